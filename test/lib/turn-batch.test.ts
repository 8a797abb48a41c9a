import { setImmediate as turn } from 'node:timers/promises'
import t from 'tap'
import { AT_END_OF_TURN, Cohort, WHEN_SETTLED } from '../../lib/turn-batch.js'

/** A cohort that is handled when the test says so. */
function cohort (more: (item: number) => void = () => {}) {
  const handled: number[] = []
  const due: Array<() => void> = []
  const gathered = new Cohort<number>(item => { handled.push(item); more(item) }, run => due.push(run))
  return { gathered, handled, due, come: () => { for (const run of due.splice(0)) run() } }
}

t.test('what is gathered is handled in its order, when it is time, and once', async t => {
  const { gathered, handled, due, come } = cohort()
  for (const item of [3, 1, 2]) gathered.add(item)
  t.strictSame(handled, [])
  t.equal(due.length, 1, 'one appointment for all of them')
  come()
  t.strictSame(handled, [3, 1, 2])
  gathered.flush()
  t.strictSame(handled, [3, 1, 2])
  gathered.add(4)
  t.equal(due.length, 1, 'the next ones have their own')
  come()
  t.strictSame(handled, [3, 1, 2, 4])
})

t.test('what is wanted now is handled now, and what comes afterwards not before its time', async t => {
  const { gathered, handled, come } = cohort()
  gathered.add(1)
  gathered.flush()
  t.strictSame(handled, [1])
  gathered.add(2)
  t.strictSame(handled, [1])
  come()
  t.strictSame(handled, [1, 2])
})

t.test('what comes up while the others are handled is of the next cohort', async t => {
  const { gathered, handled, due, come } = cohort(item => { if (item < 3) gathered.add(item + 2) })
  for (const item of [1, 2]) gathered.add(item)
  come()
  t.strictSame(handled, [1, 2])
  t.equal(due.length, 1)
  come()
  t.strictSame(handled, [1, 2, 3, 4])
})

t.test('everybody who hears of the same thing is in one cohort', async t => {
  const waves: number[][] = []
  const gathered: Cohort<number> = new Cohort<number>(item => { waves.at(-1)?.push(item) }, run => WHEN_SETTLED(() => { waves.push([]); run() }))
  let settle = () => {}
  const settled = new Promise<void>(resolve => { settle = resolve })
  const heard = [1, 2, 3].map(item => settled.then(() => gathered.add(item)))
  settle()
  await Promise.all(heard)
  t.strictSame(waves, [[1, 2, 3]], 'before anything else happens')
})

t.test('the end of a turn comes after everything that can be done in it', async t => {
  const { handled, gathered } = { handled: [] as string[], gathered: new Cohort<string>(item => { handled.push(item) }, AT_END_OF_TURN) }
  gathered.add('first')
  await Promise.resolve().then(() => gathered.add('second'))
  process.nextTick(() => gathered.add('third'))
  t.strictSame(handled, [])
  await turn()
  t.strictSame(handled, ['first', 'second', 'third'])
})

t.test('a cohort that is full is handled at once, and the next one waits for the appointment that is made already', async t => {
  const handled: number[] = []
  const appointments: Array<() => void> = []
  const cohort = new Cohort<number>(item => handled.push(item), run => appointments.push(run), 2)
  for (const item of [1, 2, 3, 4, 5]) cohort.add(item)
  t.strictSame(handled, [1, 2, 3, 4])
  t.equal(appointments.length, 1)
  appointments[0]?.()
  t.strictSame(handled, [1, 2, 3, 4, 5])
  cohort.add(6)
  t.equal(appointments.length, 2)
})
