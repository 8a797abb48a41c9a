import t from 'tap'
import type { Client } from '../../../console/client/contract.js'
import { Completer, valuesOf } from '../../../console/try/use/completion.js'
import { hintsOf, isDestructive } from '../../../console/try/actions.js'
import { linesFrom, verdictOf } from '../../../console/try/call/tones.js'
import { progressInWords, shareOf } from '../../../console/parts/words.js'
import { filledArguments, missingOf, promptArguments, refusalOf } from '../../../console/try/use/arguments.js'
import { formSchema, rootsFrom, samplingAnswer, textOfContent } from '../../../console/try/questions/answers.js'
import { until } from '../../support/wait.js'
import { stopTime } from '../../support/clocks.js'

t.test('hints of a tool in words; only one that says so destroys', async t => {
  const hints = (annotations: Record<string, boolean>) => hintsOf({ annotations }).map(({ words }) => words)
  t.strictSame(hints({ readOnlyHint: true, destructiveHint: true }), ['reads only'])
  t.strictSame(hints({ destructiveHint: true, idempotentHint: true, openWorldHint: true }), [
    'destructive',
    'safe to repeat',
    'reaches outside'
  ])
  t.strictSame(hints({ readOnlyHint: false, destructiveHint: false }), ['changes things'])
  t.strictSame(hintsOf({}), [])
  t.equal(isDestructive({ annotations: { destructiveHint: true } }), true)
  t.equal(isDestructive({ annotations: 'destructiveHint' }), false)
})

t.test('log lines by level; a level that is not known is never hidden', async t => {
  const lines = ['debug', 'warning', 'odd', 'error'].map(level => ({ level, text: level }))
  t.strictSame(linesFrom(lines, 'warning').map(({ level }) => level), ['warning', 'odd', 'error'])
})

t.test('progress in words, with and without a total', async t => {
  t.strictSame(
    [
      shareOf({ progress: 1, total: 3 }),
      shareOf({ progress: 9, total: 3 }),
      shareOf({ progress: 1, total: 0 }),
      shareOf({ progress: 1 })
    ],
    [1 / 3, 1, undefined, undefined]
  )
  t.strictSame([progressInWords({ progress: 1, total: 3 }), progressInWords({ progress: 7 })], ['33 %', '7 so far'])
})

t.test('how a call ended, in words', async t => {
  t.equal(verdictOf(undefined).words, 'running')
  t.equal(verdictOf({ type: 'result', result: { isError: true } }).words, 'tool failed')
  t.equal(verdictOf({ type: 'result', result: {} }).words, 'done')
  t.equal(verdictOf({ type: 'lost', why: '' }).words, 'lost')
  t.equal(verdictOf({ type: 'error', code: -32602, message: 'wrong arguments' }).words, 'refused')
  t.equal(verdictOf({ type: 'error', code: -32603, message: 'the server was lost' }).words, 'error')
  t.equal(verdictOf({ type: 'left-out', failed: true }).words, 'failed')
})

t.test('only invalid params and failed tools say something about arguments', async t => {
  t.strictSame(refusalOf({ type: 'error', code: -32602, message: 'm', data: 1 }), { message: 'm', data: 1 })
  t.equal(refusalOf({ type: 'error', code: -32603, message: 'm' }), undefined)
  t.strictSame(
    refusalOf({ type: 'result', result: { isError: true, content: [{ type: 'text', text: 'a' }, { type: 'image' }] } }),
    { message: 'a\n[image]' }
  )
  t.equal(refusalOf({ type: 'result', result: {} }), undefined)
})

t.test('an answer in place of a model, and folders', async t => {
  t.match(samplingAnswer('hi'), {
    role: 'assistant',
    model: String,
    content: { type: 'text', text: 'hi' },
    stopReason: 'endTurn'
  })
  t.equal(textOfContent({ type: 'text', text: 'a' }), 'a')
  t.strictSame(rootsFrom(' file:///a \n\nhttp://b\n'), { roots: [{ uri: 'file:///a' }], wrong: ['http://b'] })
})

t.test('what a question says is text, and its form is of an object, whatever the server sends', async t => {
  const odd = [null, 7, true, [], {}, { text: 5 }, { type: { toString: 1 } }, [[['deep']]], undefined]
  for (const content of odd) t.type(textOfContent(content), 'string')
  t.equal(textOfContent([{ type: 'text', text: 'a' }, null, { type: { toString: 1 } }]), 'a\n\n[something]')
  for (const requestedSchema of [null, 7, true, 'x', []]) {
    t.strictSame(formSchema({ requestedSchema }), { type: 'object' })
  }
  t.strictSame(formSchema({}), { type: 'object' })
  t.strictSame(formSchema({ requestedSchema: { type: 'string', title: 'T' } }), { type: 'object', title: 'T' })
})

t.test('arguments of a prompt that are no list of objects with names are none', async t => {
  for (const listed of [null, 7, 'x', {}, [null, [], 'a', { name: 5 }, { name: null }]]) {
    t.strictSame(promptArguments({ arguments: listed }), [])
  }
  t.strictSame(promptArguments({ arguments: [{ name: 'a', description: 5, required: 'yes' }] }), [
    { name: 'a', required: false }
  ])
})

t.test('values of a completion that are no texts are none', async t => {
  for (const completion of [null, 7, [], { values: 'x' }, { values: [null, 5, {}] }]) {
    t.strictSame(valuesOf({ completion }), [])
  }
})

t.test('arguments of a prompt: needed ones are missed, empty ones left out', async t => {
  const wanted = promptArguments({
    arguments: [{ name: 'a', required: true }, { name: 'b', description: 'd' }, { noName: 1 }, 3]
  })
  t.strictSame(wanted, [{ name: 'a', required: true }, { name: 'b', required: false, description: 'd' }])
  t.strictSame(missingOf(wanted, new Map([['b', 'x']])), ['a'])
  t.strictSame(filledArguments(wanted, new Map([['a', ''], ['b', 'x']])), [['b', 'x']])
})

t.test('completion is asked once after a pause, and only the last answer counts', async t => {
  const asked: unknown[] = []
  const found: string[][] = []
  const client = {
    server: { capabilities: { completions: {} } },
    request: async (_method: string, params: unknown) => {
      asked.push(params)
      return { completion: { values: ['one', 2, 'two'] } }
    }
  } as unknown as Client
  const completer = new Completer(values => { found.push(values) })
  completer.ask(client, { type: 'ref/prompt', name: 'p' }, 'who', 'a', {})
  completer.ask(client, { type: 'ref/prompt', name: 'p' }, 'who', 'ab', { other: 'x' })
  await until(() => found.length === 1, 'the values')
  t.strictSame(found, [['one', 'two']])
  t.strictSame(asked, [
    {
      ref: { type: 'ref/prompt', name: 'p' },
      argument: { name: 'who', value: 'ab' },
      context: { arguments: { other: 'x' } }
    }
  ])
})

t.test('a server that does not complete is not asked', async t => {
  const client = {
    server: { capabilities: {} },
    request: async () => {
      throw new Error('asked')
    }
  } as unknown as Client
  const { pass } = stopTime(t)
  const completer = new Completer(() => t.fail('found'))
  completer.ask(client, { type: 'ref/resource', uri: 'u' }, 'a', '', {})
  await pass(10_000)
})
