import { EventEmitter } from 'node:events'
import { PassThrough } from 'node:stream'
import t from 'tap'
import { Frames, watchAssembly } from '../../../transports/websocket/frames.js'
import { stopTime, turnable } from '../../support/clocks.js'
import { closeFrame, frame, OPCODE } from '../../support/websocket-client.js'

const { text, continuation, ping } = OPCODE
const PING = frame({ opcode: ping, payload: 'x' })
const first = frame({ opcode: text, payload: 'a', fin: false })
const middle = frame({ opcode: continuation, payload: '', fin: false })
const last = frame({ opcode: continuation, payload: 'b' })

const complete: Array<[what: string, bytes: Buffer]> = [
  ...[0, 1, 125, 126, 65_535, 65_536, 100_000].map(
    length => [`a message of ${length} bytes`, frame({ opcode: text, payload: 'x'.repeat(length) })] as [string, Buffer]
  ),
  ['a message in fragments', Buffer.concat([first, middle, last])],
  ['a message in fragments with pings between', Buffer.concat([first, PING, middle, PING, last])],
  ['a ping', PING],
  ['a farewell', closeFrame(1000, 'bye')],
  ['many of them', Buffer.concat([PING, first, last, frame({ opcode: text, payload: '{}' }), PING])]
]

for (const [what, bytes] of complete) {
  t.test(`${what}: a message is incomplete until its last byte, however it is cut`, async t => {
    for (const size of [1, 2, 3, 7, 64, bytes.length]) {
      if (bytes.length / size > 20_000) continue
      const frames = new Frames()
      for (let at = 0; at < bytes.length; at += size) frames.push(bytes.subarray(at, at + size))
      t.equal(frames.since, undefined, `in parts of ${size}`)
    }
    const frames = new Frames()
    frames.push(bytes.subarray(0, bytes.length - 1))
    t.type(frames.since, 'number')
  })
}

t.test('the time of a message counts from its first byte, whatever comes between its parts', async t => {
  const clock = turnable(t)
  const frames = new Frames()
  frames.push(first)
  const { since } = frames
  clock.later = 2
  for (const bytes of [PING, middle, PING.subarray(0, 3), PING.subarray(3), last.subarray(0, 1)]) {
    frames.push(bytes)
    t.equal(frames.since, since)
  }
  frames.push(Buffer.concat([last.subarray(1), first]))
  t.ok((frames.since ?? 0) > (since ?? Infinity), 'the next one has its own time')
})

t.test('a late message is reported once, one in time never, and nothing after the end', async t => {
  let late = 0
  const [slow, quick] = [new PassThrough(), new PassThrough()]
  const events = new EventEmitter()
  const stop = watchAssembly(slow, 30, () => { late++; events.emit('late') })
  const stopQuick = watchAssembly(quick, 30, () => t.fail('it was complete'))
  const lateness = new Promise(resolve => events.once('late', resolve))
  slow.write(first)
  const drip = setInterval(() => { slow.write(PING); quick.write(Buffer.concat([first, last])) }, 5)
  await lateness
  clearInterval(drip)
  stop()
  stopQuick()
  t.equal(late, 1)
  t.equal(slow.listenerCount('data') + quick.listenerCount('data'), 0)
})

t.test('a message that came in time, but was read late because the gateway was busy, is in time', async t => {
  const { pass } = stopTime(t)
  const bytes = new PassThrough()
  const stop = watchAssembly(bytes, 500, () => t.fail('it came in time'))
  t.teardown(stop)
  bytes.write(first)
  await pass(1)
  const busy = pass(700, 700)
  // Stands for what the operating system has for us after that: it is read when the timers have run.
  setImmediate(() => bytes.write(last))
  await busy
  await pass(1_000)
  t.pass()
})
