import t from 'tap'
import { readRounds, writeRounds, type Bound } from '../../../protocol/questions/request-state.js'
import { Sealer } from '../../../protocol/questions/seal.js'

const sealer = new Sealer()
const METHOD = 'tools/call'
const PARAMS = { name: 'book', arguments: { from: 'Rome', seats: [1, 2], nested: { b: 1, a: 2 } } }
const ROUNDS = { answers: { user_name: { action: 'accept', content: { name: 'Ada' } } }, once: { charge: 42 } }
const REFUSED = { code: -32602, message: /requestState was not issued for this request/ }

/** A call by this principal in this view. */
const call = (params: object, principal: string | undefined = 'ada', method = METHOD, view?: string): Bound =>
  ({ method, params: params as Bound['params'], principal, peer: { view } })
const anonymous = (params: object): Bound => ({ ...call(params), principal: undefined })

const issued = (): string => writeRounds(sealer, call(PARAMS), ROUNDS)

t.test('the same request by the same principal gets back what it remembered', async t => {
  t.strictSame(readRounds(sealer, call({ ...PARAMS, requestState: issued() })), ROUNDS)
})

t.test('the order of keys, _meta and the new answers are not part of what it is bound to', async t => {
  const params = {
    requestState: issued(),
    _meta: { progressToken: 1 },
    inputResponses: { seat: 4 },
    arguments: { nested: { a: 2, b: 1 }, seats: [1, 2], from: 'Rome' },
    name: 'book'
  }
  t.strictSame(readRounds(sealer, call(params)), {
    answers: { ...ROUNDS.answers, seat: 4 },
    once: ROUNDS.once
  })
})

t.test('a newer answer to the same question counts', async t => {
  const { answers } = readRounds(
    sealer,
    call({ ...PARAMS, requestState: issued(), inputResponses: { user_name: 'Bob' } })
  )
  t.strictSame(answers, { user_name: 'Bob' })
})

t.test('answers without a state are answers', async t => {
  t.strictSame(readRounds(sealer, call({ ...PARAMS, inputResponses: { seat: 4 } })), {
    answers: { seat: 4 },
    once: {}
  })
})

t.test('a request that brings nothing remembers nothing', async t => {
  t.strictSame(readRounds(sealer, call(PARAMS)), { answers: {}, once: {} })
})

const FOREIGN: Array<[what: string, method: string, params: object, principal: string | undefined, view?: string]> = [
  ['another view', METHOD, PARAMS, 'ada', 'other'],
  ['another method', 'prompts/get', PARAMS, 'ada'],
  ['another tool', METHOD, { ...PARAMS, name: 'pay' }, 'ada'],
  ['another argument', METHOD, { ...PARAMS, arguments: { ...PARAMS.arguments, from: 'Paris' } }, 'ada'],
  ['an argument deep inside', METHOD, { ...PARAMS, arguments: { ...PARAMS.arguments, nested: { a: 2, b: 2 } } }, 'ada'],
  ['a list in another order', METHOD, { ...PARAMS, arguments: { ...PARAMS.arguments, seats: [2, 1] } }, 'ada'],
  ['one argument more', METHOD, { ...PARAMS, arguments: { ...PARAMS.arguments, more: 1 } }, 'ada'],
  ['a number as text', METHOD, { ...PARAMS, arguments: { ...PARAMS.arguments, seats: ['1', 2] } }, 'ada'],
  ['no arguments', METHOD, { name: 'book' }, 'ada'],
  ['another principal', METHOD, PARAMS, 'bob'],
  ['no principal', METHOD, PARAMS, undefined],
  ['an empty principal', METHOD, PARAMS, '']
]

for (const [what, method, params, principal, view] of FOREIGN) {
  t.test(`a state is not good for ${what}`, async t => {
    const foreign = { ...call({ ...params, requestState: issued() }, principal, method, view), principal }
    t.throws(() => readRounds(sealer, foreign), REFUSED)
  })
}

t.test('a request state without a principal is refused for one with a principal', async t => {
  const requestState = writeRounds(sealer, anonymous(PARAMS), ROUNDS)
  t.strictSame(readRounds(sealer, anonymous({ ...PARAMS, requestState })), ROUNDS)
  t.throws(() => readRounds(sealer, call({ ...PARAMS, requestState })), REFUSED)
})

t.test('a state is not good after ten minutes', async t => {
  const requestState = issued()
  const now = Date.now()
  t.intercept(Date, 'now', { value: () => now + 10 * 60_000 - 1_000 })
  t.strictSame(readRounds(sealer, call({ ...PARAMS, requestState })), ROUNDS)
  t.intercept(Date, 'now', { value: () => now + 10 * 60_000 + 1_000 })
  t.throws(() => readRounds(sealer, call({ ...PARAMS, requestState })), {
    code: -32602,
    message: /requestState has expired/
  })
})

for (const requestState of ['', 'x', null, 7, {}, ['x'], true]) {
  t.test(`a state that is ${JSON.stringify(requestState)} is refused`, async t => {
    t.throws(() => readRounds(sealer, call({ ...PARAMS, requestState })), REFUSED)
  })
}

t.test('a token that was sealed for something else is refused', async t => {
  const requestState = sealer.seal('tools/list', { ...ROUNDS, bound: 'x', expires: Date.now() + 1e6 })
  t.throws(() => readRounds(sealer, call({ ...PARAMS, requestState })), REFUSED)
})

for (const inputResponses of [null, 'x', 7, [1]]) {
  t.test(`answers that are ${JSON.stringify(inputResponses)} are refused`, async t => {
    t.throws(() => readRounds(sealer, call({ ...PARAMS, inputResponses })), {
      code: -32602,
      message: /inputResponses must be an object/
    })
  })
}
