import { setImmediate as turn } from 'node:timers/promises'
import t from 'tap'
import { onImmediate, TurnBatch, onMicrotask } from '../../lib/turn-batch.js'

/** A batch that is handled when the test decides. */
function batch (more: (item: number) => void = () => {}) {
  const handled: number[] = []
  const due: Array<() => void> = []
  const gathered = new TurnBatch<number>(item => { handled.push(item); more(item) }, run => due.push(run))
  return { gathered, handled, due, come: () => { for (const run of due.splice(0)) run() } }
}

t.test('the items of a batch are handled in order, at its time, and once', async t => {
  const { gathered, handled, due, come } = batch()
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

t.test('a flush handles the items at once, and later items wait for the next run', async t => {
  const { gathered, handled, come } = batch()
  gathered.add(1)
  gathered.flush()
  t.strictSame(handled, [1])
  gathered.add(2)
  t.strictSame(handled, [1])
  come()
  t.strictSame(handled, [1, 2])
})

t.test('items that are added while a batch is handled are in the next batch', async t => {
  const { gathered, handled, due, come } = batch(item => { if (item < 3) gathered.add(item + 2) })
  for (const item of [1, 2]) gathered.add(item)
  come()
  t.strictSame(handled, [1, 2])
  t.equal(due.length, 1)
  come()
  t.strictSame(handled, [1, 2, 3, 4])
})

t.test('listeners to the same promise are in one batch', async t => {
  const waves: number[][] = []
  const gathered: TurnBatch<number> = new TurnBatch<number>(
    item => {
      waves.at(-1)?.push(item)
    },
    run =>
      onMicrotask(() => {
        waves.push([])
        run()
      })
  )
  let settle = () => {}
  const settled = new Promise<void>(resolve => { settle = resolve })
  const added = [1, 2, 3].map(item => settled.then(() => gathered.add(item)))
  settle()
  await Promise.all(added)
  t.strictSame(waves, [[1, 2, 3]], 'before anything else happens')
})

t.test('the end of a turn comes after everything that can be done in it', async t => {
  const { handled, gathered } = {
    handled: [] as string[],
    gathered: new TurnBatch<string>(item => {
      handled.push(item)
    }, onImmediate)
  }
  gathered.add('first')
  await Promise.resolve().then(() => gathered.add('second'))
  process.nextTick(() => gathered.add('third'))
  t.strictSame(handled, [])
  await turn()
  t.strictSame(handled, ['first', 'second', 'third'])
})

t.test('a full batch is handled at once, and the next one waits for the run that is already scheduled', async t => {
  const handled: number[] = []
  const appointments: Array<() => void> = []
  const full = new TurnBatch<number>(item => handled.push(item), run => appointments.push(run), 2)
  for (const item of [1, 2, 3, 4, 5]) full.add(item)
  t.strictSame(handled, [1, 2, 3, 4])
  t.equal(appointments.length, 1)
  appointments[0]?.()
  t.strictSame(handled, [1, 2, 3, 4, 5])
  full.add(6)
  t.equal(appointments.length, 2)
})

t.test('an item that throws is reported and does not drop the items after it', async t => {
  const handled: number[] = []
  const uncaught: unknown[] = []
  const listeners = process.rawListeners('uncaughtException') as Array<(error: Error) => void>
  process.removeAllListeners('uncaughtException')
  process.on('uncaughtException', error => { uncaught.push(error.message) })
  try {
    const items = new TurnBatch<number>(item => {
      if (item === 1) throw new Error('first')
      handled.push(item)
    }, onImmediate)
    for (const item of [1, 2, 3]) items.add(item)
    for (let turn = 0; turn < 3; turn++) await new Promise(resolve => { setImmediate(resolve) })
  } finally {
    process.removeAllListeners('uncaughtException')
    for (const listener of listeners) process.on('uncaughtException', listener)
  }
  t.strictSame(handled, [2, 3])
  t.strictSame(uncaught, ['first'])
})
