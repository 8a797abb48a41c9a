import t, { type Test } from 'tap'
import { Cancellation } from '../../../lib/abort.js'
import { LongAnswers } from '../../../protocol/nodes/long-answers.js'
import { LongInquiries, type LongOutcome } from '../../../protocol/nodes/long-inquiries.js'
import type { NodeMessage, ResumeQuestion } from '../../../protocol/nodes/message.js'
import type { Nodes } from '../../../protocol/nodes/nodes.js'
import { errors } from '../../../protocol/wire/errors.js'
import { until } from '../../support/wait.js'

const QUESTION: ResumeQuestion = { kind: 'resume', upstream: 'u', parkedId: 'p', nonce: 'n', principal: undefined, bound: 'b', capabilities: {}, logLevel: undefined, answers: {} }
const EVERY = 5

type Fault = (message: NodeMessage) => 'lost' | 'absent' | 'failed' | 'twice' | undefined

/** Nodes in one process between which a test can lose messages. */
class Wire {
  fault: Fault = () => undefined
  readonly sent: NodeMessage[] = []
  readonly #listeners = new Map<string, Set<(message: NodeMessage, from: string) => void>>()
  readonly alive = new Set<string>()
  hasLease = true

  node (self: string): Nodes {
    const listeners = new Set<(message: NodeMessage, from: string) => void>()
    this.#listeners.set(self, listeners)
    this.alive.add(self)
    return {
      self,
      send: async (node, message) => this.#send(self, node, message),
      broadcast: async () => {},
      onMessage: listener => { listeners.add(listener); return () => listeners.delete(listener) },
      isAlive: async node => this.hasLease && this.alive.has(node)
    }
  }

  #send (from: string, node: string, message: NodeMessage): boolean {
    this.sent.push(message)
    const fault = this.alive.has(node) ? this.fault(message) : 'absent'
    if (fault === 'failed') throw errors.storage('no')
    if (fault === 'absent') return false
    const times = fault === 'lost' ? 0 : fault === 'twice' ? 2 : 1
    for (let time = 0; time < times; time++) setImmediate(() => { for (const listener of this.#listeners.get(node) ?? []) listener(JSON.parse(JSON.stringify(message)) as NodeMessage, from) })
    return true
  }
}

type Handler = (news: (news: unknown) => void, cancellation: Cancellation) => Promise<unknown>

function pair (t: Test, handler: Handler) {
  const wire = new Wire()
  const asker = new LongInquiries(wire.node('asker'), EVERY)
  const answerer = new LongAnswers(wire.node('answerer'), EVERY)
  let runs = 0
  answerer.on('resume', async (_question, news, cancellation) => { runs++; return await handler(news, cancellation) })
  const stops = [asker.start(), answerer.start()]
  // The timers of both keep no process alive.
  const awake = setInterval(() => {}, 1_000)
  t.teardown(() => { clearInterval(awake); for (const stop of stops) stop() })
  const ask = async (onNews: (news: unknown) => void = () => {}, cancellation = new Cancellation()): Promise<LongOutcome> => await asker.ask('answerer', QUESTION, onNews, cancellation)
  return { wire, ask, answerer, stop: stops[1] as () => void, runs: () => runs }
}

t.test('the answer comes with the news before it, and nothing is kept', async t => {
  const { ask, answerer } = pair(t, async news => { news(1); news(2); return { a: 1 } })
  const news: unknown[] = []
  t.strictSame(await ask(one => news.push(one)), { answer: { a: 1 } })
  t.strictSame(news, [1, 2])
  await until(() => answerer.size === 0)
})

t.test('whichever message is lost or comes twice, the question is answered once', async t => {
  const kinds: Array<[string, (message: NodeMessage) => boolean]> = [
    ['the question', message => message.kind === 'asker' && message.says !== 'done'],
    ['that the answer is there', message => message.kind === 'asker' && message.says === 'done'],
    ['the answer', message => message.kind === 'answerer'],
    ['that it works', message => message.kind === 'works'],
    ['that it waits', message => message.kind === 'waits'],
    ['anything', () => true]
  ]
  for (const [what, matches] of kinds) {
    for (const fault of ['lost', 'absent', 'failed', 'twice'] as const) {
      const { wire, ask, runs, answerer } = pair(t, async () => await new Promise(resolve => { setTimeout(resolve, 3 * EVERY, what) }))
      let left = 2
      wire.fault = message => matches(message) && left-- > 0 ? fault : undefined
      t.strictSame(await ask(), { answer: what }, `${what}: ${fault}`)
      t.equal(runs(), 1)
      await until(() => answerer.size === 0)
    }
  }
})

t.test('a node that never was has not got the question; one that does not answer any more may have', async t => {
  const { wire, ask } = pair(t, async () => await new Promise(() => {}))
  wire.alive.delete('answerer')
  t.equal(await ask(), 'absent')
  wire.alive.add('answerer')
  const dead = ask()
  await until(() => wire.sent.some(({ kind }) => kind === 'works'))
  wire.alive.delete('answerer')
  t.equal(await dead, 'lost')
  wire.alive.add('answerer')
  wire.fault = () => 'lost'
  t.equal(await ask(), 'lost', 'a node that hangs')
  wire.hasLease = false
  const before = wire.sent.length
  t.equal(await ask(), 'lost', 'one that has lost its lease')
  t.ok(wire.sent.length - before < 10, 'is not waited for as long')
  wire.hasLease = true
  wire.fault = () => 'failed'
  await t.rejects(ask(), { message: /Storage failed/ })
})

t.test('an asker that leaves, and one that has died, cancels the work', async t => {
  const reasons: string[] = []
  const { wire, ask, answerer } = pair(t, async (_news, cancellation) => await new Promise(resolve => { cancellation.on(({ message }) => { reasons.push(message); resolve(undefined) }) }))
  const cancellation = new Cancellation()
  const left = ask(() => {}, cancellation)
  await until(() => answerer.size === 1)
  cancellation.cancel(new Error('cancelled'))
  await t.rejects(left, { message: 'cancelled' })
  await until(() => reasons.length === 1)
  const cut = ask()
  await until(() => answerer.size === 1)
  wire.fault = ({ kind }) => kind === 'waits' ? 'lost' : undefined
  t.equal(await cut, 'lost')
  t.strictSame(reasons, ['the client left', 'the node of the client has ended'])
  t.equal(answerer.size, 0)
})

t.test('a node that stops says so, and waits for what it answers if it is asked to', async t => {
  let finish = (): void => {}
  const { ask, answerer, stop } = pair(t, async () => await new Promise(resolve => { finish = () => resolve('done') }))
  const first = ask()
  await until(() => answerer.size === 1)
  const finished = answerer.finished()
  finish()
  await finished
  t.strictSame(await first, { answer: 'done' })
  const second = ask()
  await until(() => answerer.size === 1)
  stop()
  t.equal(await second, 'lost')
})
