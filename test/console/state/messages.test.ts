import t from 'tap'
import { droppedMessages, MAX_MESSAGES, MessageLog, messages } from '../../../console/state/messages.js'

function log () {
  const waiting: Array<() => void> = []
  return {
    log: new MessageLog(run => {
      waiting.push(run)
    }),
    waiting,
    draw: () => {
      for (const run of waiting.splice(0)) run()
    }
  }
}

t.test('a response has the method of its request and how long it took, in both directions', async t => {
  const { log: own, draw } = log()
  own.add('sent', { id: 1, method: 'tools/list' }, 10)
  own.add('received', { id: 1, method: 'roots/list' }, 10)
  own.add('received', { method: 'notifications/progress' }, 10)
  own.add('sent', { id: 1, result: {} }, 10)
  own.add('received', { id: 1, error: { code: 1 } }, 10)
  draw()
  t.strictSame(
    messages.value.map(({ direction, method, kind }) => `${direction} ${kind} ${method}`),
    [
      'sent request tools/list',
      'received request roots/list',
      'received notification notifications/progress',
      'sent response roots/list',
      'received error tools/list'
    ]
  )
  t.strictSame(messages.value.map(({ ms }) => ms !== undefined), [false, false, false, true, true])
})

t.test('a flood is published once, and only the last thousand are kept', async t => {
  const { log: own, waiting, draw } = log()
  for (let index = 0; index < MAX_MESSAGES + 5; index++) own.add('received', { method: `n/${index}` }, 10)
  t.equal(waiting.length, 1)
  draw()
  t.equal(messages.value.length, MAX_MESSAGES)
  t.equal(messages.value[0]?.method, 'n/5')
  t.equal(droppedMessages.value, 5)
})

t.test('few large messages push out earlier ones', async t => {
  const { log: own, draw } = log()
  for (let index = 0; index < 4; index++) own.add('received', { method: `n/${index}` }, 15 * 1024 * 1024)
  draw()
  t.strictSame(messages.value.map(({ method }) => method), ['n/2', 'n/3'])
})

t.test('cleared is cleared', async t => {
  const { log: own, draw } = log()
  own.add('sent', { method: 'a' }, 1)
  own.clear()
  draw()
  t.strictSame(messages.value, [])
})
