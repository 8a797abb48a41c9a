import { setImmediate as turn } from 'node:timers/promises'
import t from 'tap'
import { Semaphore } from '../../lib/semaphore.js'

const never = new AbortController().signal

/** Works that begin when it is their turn and end when the test ends them. */
function works (turns: Semaphore) {
  const begun: string[] = []
  const ends = new Map<string, (error?: Error) => void>()
  const add = (name: string, signal = never) => turns.run(signal, async () => {
    begun.push(name)
    await new Promise<void>((resolve, reject) =>
      ends.set(name, error => (error === undefined ? resolve() : reject(error)))
    )
    return name
  })
  return { begun, add, end: (name: string, error?: Error) => ends.get(name)?.(error) }
}

t.test('as many as the limit run at once, and the others in the order of their requests', async t => {
  const { begun, add, end } = works(new Semaphore(2))
  const all = ['a', 'b', 'c', 'd'].map(name => add(name))
  await turn()
  t.strictSame(begun, ['a', 'b'])
  end('b')
  await turn()
  t.strictSame(begun, ['a', 'b', 'c'])
  for (const name of ['a', 'c']) end(name)
  await turn()
  end('d')
  t.strictSame(await Promise.all(all), ['a', 'b', 'c', 'd'])
})

t.test('a turn ends with a failure, too', async t => {
  const { begun, add, end } = works(new Semaphore(1))
  const first = add('a')
  const second = add('b')
  await turn()
  end('a', new Error('broken'))
  await t.rejects(first, { message: 'broken' })
  end('b')
  t.equal(await second, 'b')
  t.strictSame(begun, ['a', 'b'])
})

t.test('an aborted wait leaves the queue, and no other loses its turn', async t => {
  const { begun, add, end } = works(new Semaphore(1))
  const controller = new AbortController()
  const first = add('a')
  const second = add('b', controller.signal)
  const third = add('c')
  controller.abort(new Error('enough'))
  await t.rejects(second, { message: 'enough' })
  end('a')
  await first
  await turn()
  end('c')
  t.equal(await third, 'c')
  t.strictSame(begun, ['a', 'c'])
  await t.rejects(add('d', controller.signal), { message: 'enough' })
  const last = add('e')
  await turn()
  end('e')
  t.equal(await last, 'e')
})
