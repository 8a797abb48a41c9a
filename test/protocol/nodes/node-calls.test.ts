import t, { type Test } from 'tap'
import { Cancellation } from '../../../lib/abort.js'
import type { NodeMessage, NodeRequests } from '../../../protocol/nodes/message.js'
import { NodeCalls, type NodeOutcome, type NodeRequestOptions } from '../../../protocol/nodes/node-calls.js'
import type { Nodes } from '../../../protocol/nodes/nodes.js'
import { errors } from '../../../protocol/wire/errors.js'
import { fakeNodes } from '../../support/nodes/fake-nodes.js'
import { takeTime, until } from '../../support/wait.js'

const BODY: NodeRequests['resume'] = {
  upstream: 'u',
  parkedId: 'p',
  nonce: 'n',
  principal: undefined,
  bound: 'b',
  capabilities: {},
  logLevel: undefined,
  answers: {}
}
const BEAT = 5
const OTHER = 'bbbbbbbbbbbb'

type Fault = (message: NodeMessage) => 'lost' | 'absent' | 'failed' | 'twice' | 'late' | undefined

/** Nodes in one process between which a test can lose messages. */
class Wire {
  fault: Fault = () => undefined
  readonly sent: NodeMessage[] = []
  readonly #listeners = new Map<string, Set<(message: NodeMessage, from: string) => void>>()
  readonly alive = new Set<string>()
  /** Delivers the messages that came late. */
  readonly late: Array<() => void> = []
  hasLease = true

  node (self: string): Nodes {
    const listeners = new Set<(message: NodeMessage, from: string) => void>()
    this.#listeners.set(self, listeners)
    this.alive.add(self)
    return {
      self,
      join: async () => {},
      send: async (node, message) => this.#send(self, node, message),
      broadcast: async message => { for (const node of this.alive) if (node !== self) this.#send(self, node, message) },
      onMessage: listener => { listeners.add(listener); return () => listeners.delete(listener) },
      isAlive: async node => this.hasLease && this.alive.has(node)
    }
  }

  #send (from: string, node: string, message: NodeMessage): boolean {
    this.sent.push(message)
    const fault = this.alive.has(node) ? this.fault(message) : 'absent'
    if (fault === 'failed') throw errors.storage('no')
    if (fault === 'absent') return false
    const deliver = (): void => {
      for (const listener of this.#listeners.get(node) ?? []) {
        listener(JSON.parse(JSON.stringify(message)) as NodeMessage, from)
      }
    }
    if (fault === 'late') this.late.push(deliver)
    else for (let time = fault === 'lost' ? 2 : fault === 'twice' ? 0 : 1; time < 2; time++) setImmediate(deliver)
    return true
  }
}

type Handler = (onProgress: (progress: unknown) => void, cancellation: Cancellation) => Promise<unknown>

function pair (t: Test, handler: Handler, beat = BEAT) {
  const wire = new Wire()
  const [asks, answers] = [new NodeCalls(wire.node('asks'), beat), new NodeCalls(wire.node('answers'), beat)]
  let runs = 0
  answers.on('resume', async (_body, onProgress, cancellation) => {
    runs++
    return await handler(onProgress, cancellation)
  })
  const stops = [asks.start(), answers.start()]
  // The timers of both keep no process alive.
  const awake = setInterval(() => {}, 1_000)
  t.teardown(() => { clearInterval(awake); for (const stop of stops) stop() })
  const ask = async (options?: NodeRequestOptions): Promise<NodeOutcome> =>
    await asks.request('answers', 'resume', BODY, options)
  return { wire, ask, asks, answers, stop: stops[1] as () => void, runs: () => runs }
}

const answered = (answer: unknown): NodeOutcome => ({ outcome: 'answered', answer })

t.test('the answer comes with the progress before it, and nothing is kept', async t => {
  let say = (_progress: unknown): void => {}
  const { wire, ask, asks, answers } = pair(
    t,
    async onProgress => {
      say = onProgress
      onProgress(1)
      onProgress(2)
      return { a: 1 }
    },
    60_000
  )
  const heard: unknown[] = []
  t.strictSame(await ask({ onProgress: progress => heard.push(progress) }), answered({ a: 1 }))
  await until(() => answers.size === 0)
  t.equal(asks.size, 0)
  say('too late')
  t.strictSame(heard, [1, 2])
  t.strictSame(
    wire.sent.map(({ kind }) => kind),
    ['request', 'reply', 'reply', 'reply', 'done'],
    'no more messages than needed'
  )
})

t.test('whichever message is lost, fails or comes twice, the request is answered and runs once', async t => {
  for (const kind of ['request', 'done', 'reply', 'works', 'waits', 'any message'] as const) {
    for (const fault of ['lost', 'absent', 'failed', 'twice'] as const) {
      const { wire, ask, runs, answers } = pair(t, async () => { await takeTime(3 * BEAT); return kind })
      let left = 2
      wire.fault = message => (kind === 'any message' || message.kind === kind) && left-- > 0 ? fault : undefined
      t.strictSame(await ask(), answered(kind), `${kind}: ${fault}`)
      t.equal(runs(), 1)
      await until(() => answers.size === 0)
    }
  }
})

t.test('a request that was sent again does not run again, however late the first copy comes', async t => {
  const { wire, ask, runs, answers } = pair(t, async () => 'answer')
  let copies = 0
  wire.fault = ({ kind }) => kind === 'request' && ++copies === 1 ? 'late' : undefined
  t.strictSame(await ask(), answered('answer'))
  await until(() => wire.sent.some(({ kind }) => kind === 'done'))
  await new Promise(setImmediate)
  for (const deliver of wire.late) deliver()
  await new Promise(setImmediate)
  // A busy machine may send it once more.
  t.ok(copies >= 2, `${copies} copies`)
  t.equal(runs(), 1)
  await until(() => answers.size === 0)
})

t.test('a node that never was has not got the request; one that does not answer any more may have', async t => {
  const { wire, ask } = pair(t, async () => await new Promise(() => {}))
  wire.alive.delete('answers')
  t.strictSame(await ask(), { outcome: 'absent' })
  wire.alive.add('answers')
  const dead = ask()
  await until(() => wire.sent.some(({ kind }) => kind === 'works'))
  wire.alive.delete('answers')
  t.strictSame(await dead, { outcome: 'lost' })
  wire.alive.add('answers')
  wire.fault = () => 'lost'
  const before = wire.sent.length
  t.strictSame(await ask(), { outcome: 'lost' }, 'a node that hangs')
  t.equal(wire.sent.slice(before).filter(({ kind }) => kind === 'waits').length, 15, 'counts as lost after 15 beats')
  wire.hasLease = false
  const later = wire.sent.length
  t.strictSame(await ask(), { outcome: 'lost' }, 'one that has lost its lease')
  t.ok(wire.sent.length - later < 10, 'is not waited for as long')
  wire.hasLease = true
  wire.fault = () => 'failed'
  await t.rejects(ask(), { message: /Storage failed/ })
})

t.test('a request is waited for no longer than allowed, and nothing is kept', async t => {
  const { wire, ask, asks, answers } = pair(t, async () => await new Promise(() => {}))
  t.strictSame(await ask({ timeout: BEAT }), { outcome: 'lost' })
  wire.fault = () => 'absent'
  t.strictSame(await ask({ timeout: BEAT }), { outcome: 'absent' }, 'a node that is there and does not listen')
  wire.fault = () => 'failed'
  await t.rejects(ask({ timeout: BEAT }), { message: /Storage failed/ })
  t.equal(asks.size, 0)
  wire.fault = () => undefined
  await until(() => answers.size === 0)
})

t.test('a node that leaves, and one that has died, cancels the work', async t => {
  const reasons: string[] = []
  const { wire, ask, answers } = pair(
    t,
    async (_onProgress, cancellation) =>
      await new Promise(resolve => {
        cancellation.on(({ message }) => {
          reasons.push(message)
          resolve(undefined)
        })
      })
  )
  const cancellation = new Cancellation()
  const left = ask({ cancellation })
  await until(() => answers.size === 1)
  cancellation.cancel(new Error('cancelled'))
  await t.rejects(left, { message: 'cancelled' })
  await until(() => reasons.length === 1)
  await t.rejects(ask({ cancellation }), { message: 'cancelled' }, 'before it is sent')
  const cut = ask()
  await until(() => answers.size === 1)
  wire.fault = ({ kind }) => kind === 'waits' || kind === 'done' ? 'lost' : undefined
  t.strictSame(await cut, { outcome: 'lost' })
  await until(() => answers.size === 0)
  t.strictSame(reasons, ['the client left', 'the node of the client has ended'])
})

t.test('a node that stops says so, and waits for what it answers if it is asked to', async t => {
  let finish = (): void => {}
  const { ask, asks, answers, stop } = pair(
    t,
    async () =>
      await new Promise(resolve => {
        finish = () => resolve('done')
      })
  )
  const first = ask()
  await until(() => answers.size === 1)
  const finished = answers.finished()
  finish()
  await finished
  t.strictSame(await first, answered('done'))
  const second = ask()
  await until(() => answers.size === 1)
  const waits = answers.request('asks', 'resume', BODY)
  stop()
  t.strictSame(await second, { outcome: 'lost' })
  t.match(await waits, { outcome: 'lost' }, 'what it asked itself is given up')
  t.equal(asks.size + answers.size, 0)
})

t.test('a request that no handler answers, or whose handler fails, has no answer and harms no other', async t => {
  const { asks, answers } = pair(t, async () => await Promise.reject(new Error('failed')))
  answers.on('refresh', async ({ session }) => session)
  const outcomes = [
    asks.request('answers', 'resume', BODY),
    asks.request('answers', 'handover', { session: 's' }),
    asks.request('answers', 'refresh', { session: 's' })
  ]
  t.strictSame(await Promise.all(outcomes), [{ outcome: 'lost' }, { outcome: 'lost' }, answered('s')])
})

t.test('a broadcast runs the handler of its kind at all other nodes, and is not answered', async t => {
  const { wire, asks, answers } = pair(t, async () => {})
  const heard: unknown[] = []
  for (const calls of [asks, answers]) {
    calls.on('handover', async ({ session }) => {
      heard.push(session)
      throw new Error('failed')
    })
  }
  await asks.broadcast('handover', { session: 's' })
  await until(() => heard.length > 0)
  t.strictSame(heard, ['s'])
  t.strictSame(wire.sent.map(({ kind }) => kind), ['broadcast'])
})

t.test('only the node that was asked can answer, and only the request that it was asked', async t => {
  const { nodes, receive } = fakeNodes()
  const calls = new NodeCalls(nodes)
  t.teardown(calls.start())
  nodes.send = async (_node, message) => {
    if (message.kind !== 'request') return true
    const { number } = message
    receive({ kind: 'reply', number, reply: { answer: 'forged' } }, 'cccccccccccc')
    receive({ kind: 'reply', number: number + 1, reply: { answer: 'of another request' } }, OTHER)
    receive({ kind: 'reply', number: number - 1, reply: { answer: 'too late' } }, OTHER)
    receive({ kind: 'reply', number, reply: { answer: 'right' } }, OTHER)
    receive({ kind: 'reply', number, reply: { answer: 'twice' } }, OTHER)
    return true
  }
  t.strictSame(await calls.request(OTHER, 'refresh', { session: 's' }), answered('right'))
  t.equal(calls.size, 0)
})
