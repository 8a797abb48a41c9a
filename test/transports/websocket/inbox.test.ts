import { setImmediate as turn } from 'node:timers/promises'
import t from 'tap'
import { Inbox } from '../../../transports/websocket/inbox.js'
import { stopTime } from '../../support/clocks.js'
import { until } from '../../support/wait.js'

function inbox () {
  const state = { handed: [] as number[], full: false, paused: false }
  const box = new Inbox<number>({
    handle: message => state.handed.push(message),
    isFull: () => state.full,
    pause: () => { state.paused = true },
    resume: () => { state.paused = false }
  })
  return {
    state,
    box,
    push: (from: number, to: number) => {
      for (let message = from; message < to; message++) box.push(message)
    }
  }
}

const upTo = (count: number) => Array.from({ length: count }, (_, index) => index)

t.test('a message is handed over at once', async t => {
  const { state, push } = inbox()
  push(0, 10)
  t.strictSame(state, { handed: upTo(10), full: false, paused: false })
})

t.test('beyond so many messages of a turn the rest waits for the next, in order, and reading pauses', async t => {
  const { state, box, push } = inbox()
  push(0, 100)
  t.equal(state.handed.length, 16)
  t.strictSame([state.paused, box.hasWaiting], [true, true])
  await turn()
  await turn()
  t.ok(state.handed.length < 100, 'others have their turn between')
  await until(() => state.handed.length === 100)
  t.strictSame(state.handed, upTo(100))
  t.strictSame([state.paused, box.hasWaiting], [false, false])
})

t.test('while too much waits for the client nothing of it is handed over', async t => {
  const { pass } = stopTime(t)
  const { state, push } = inbox()
  state.full = true
  push(0, 3)
  await pass(50)
  t.strictSame([state.handed.length, state.paused], [0, true])
  state.full = false
  await pass(10)
  t.equal(state.handed.length, 3)
  t.notOk(state.paused)
  push(3, 4)
  t.strictSame(state.handed, upTo(4))
})

t.test('nothing is handed over after the end', async t => {
  const { pass } = stopTime(t)
  const { state, box, push } = inbox()
  push(0, 100)
  box.stop()
  await pass(30)
  t.equal(state.handed.length, 16)
})
