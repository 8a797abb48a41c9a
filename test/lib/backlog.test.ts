import t from 'tap'
import { Backlog, Backlogs } from '../../lib/backlog.js'
import { stopTime } from '../support/clocks.js'

const MAX = 1_000
const DEADLINE = 60

/** A client for whom bytes wait; it reads when the test calls for it. */
function client (together?: Backlogs) {
  const state = { waiting: 0, cut: 0 }
  const backlog = new Backlog({
    size: () => state.waiting,
    max: MAX,
    deadline: DEADLINE,
    cut: () => {
      state.cut++
    },
    ...(together === undefined ? {} : { shared: together })
  })
  return {
    state,
    backlog,
    write: (bytes: number, answer = false) => { state.waiting += bytes; backlog.recordWrite(bytes, answer) },
    read: (bytes: number) => { state.waiting -= bytes }
  }
}

t.test('a client whose queue is within the limit is never cut off', async t => {
  const { pass } = stopTime(t)
  const { state, write } = client()
  write(MAX)
  await pass(2 * DEADLINE)
  t.equal(state.cut, 0)
})

t.test('a client that reads nothing of a full queue is cut off, once', async t => {
  const { pass } = stopTime(t)
  const { state, write } = client()
  write(MAX + 1)
  t.equal(state.cut, 0, 'not at once')
  await pass(DEADLINE - 1)
  t.equal(state.cut, 0, 'not before its time is up')
  await pass(1)
  t.equal(state.cut, 1)
  await pass(2 * DEADLINE)
  t.equal(state.cut, 1)
})

t.test('a client that reads, however slowly, is not cut off', async t => {
  const { pass } = stopTime(t)
  const { state, write, read } = client()
  write(5 * MAX)
  for (let round = 0; round < 20; round++) {
    await pass(DEADLINE / 4)
    read(50)
  }
  t.equal(state.cut, 0)
})

t.test('a client that reads more slowly than is written is cut off only far beyond the limit', async t => {
  const { pass } = stopTime(t)
  const { state, write, read } = client()
  write(2 * MAX)
  for (let round = 0; round < 20; round++) {
    await pass(DEADLINE / 4)
    read(100)
    write(200)
  }
  t.equal(state.cut, 0, 'it reads all the time')
})

t.test('a client whose notifications pile up far beyond the limit is cut off at once', async t => {
  const { state, write } = client()
  write(16 * MAX)
  t.equal(state.cut, 0)
  write(1)
  t.equal(state.cut, 1)
})

t.test('an answer is never the reason to cut', async t => {
  const { pass } = stopTime(t)
  const { state, write, read } = client()
  write(100 * MAX, true)
  t.equal(state.cut, 0)
  read(100 * MAX)
  await pass(2 * DEADLINE)
  t.equal(state.cut, 0)
})

t.test('no client is watched after the end', async t => {
  const { pass } = stopTime(t)
  const { state, write, backlog } = client()
  write(2 * MAX)
  backlog.stop()
  await pass(2 * DEADLINE)
  t.equal(state.cut, 0)
})

t.test('over the limit of all queues, a client that is behind is cut at its next notification', async t => {
  const together = new Backlogs(3 * MAX)
  const [first, second, third, quick] = Array.from({ length: 4 }, () => client(together)) as Array<
    ReturnType<typeof client>
  >
  t.teardown(() => { for (const one of [first, second, third, quick]) one?.backlog.stop() })
  first?.write(2 * MAX)
  second?.write(MAX + 1, true)
  t.strictSame([first?.state.cut, second?.state.cut], [0, 0], 'an answer is never the reason')
  quick?.write(MAX)
  second?.write(1)
  t.equal(second?.state.cut, 1)
  t.strictSame([first?.state.cut, quick?.state.cut], [0, 0])
  second?.backlog.stop()
  third?.write(2 * MAX)
  t.equal(third?.state.cut, 1, 'those that are gone do not count, those that are there do')
  first?.read(2 * MAX)
  third?.write(1)
  t.equal(third?.state.cut, 1, 'and what was read does not')
})
