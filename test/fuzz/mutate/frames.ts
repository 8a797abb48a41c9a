import { closeFrame, frame, OPCODE, promise } from '../../support/websocket-client.js'
import type { Random } from '../random.js'
import { mutateBytes } from './bytes.js'

const SIZES = [0, 1, 125, 126, 127, 65_535, 65_536, 65_537]
const CODES = [0, 1, 999, 1000, 1001, 1002, 1004, 1005, 1006, 1007, 1011, 1015, 1016, 2999, 3000, 4999, 5000, 65_535]

type Shape = (payload: Buffer, random: Random) => Buffer[]

const SHAPES: Shape[] = [
  (payload, random) => fragments(payload, 1 + random.below(5)),
  (payload, random) => fragments(payload, 1 + random.below(5)).flatMap(part => [part, control(random)]),
  (payload, random) => [control(random), frame({ opcode: OPCODE.text, payload }), control(random)],
  (payload, random) => [frame({ opcode: random.below(16), payload })],
  (payload, random) => [frame({ opcode: random.below(16), payload, fin: random.oneIn(2) })],
  payload => [frame({ opcode: OPCODE.text, payload, masked: false })],
  payload => [frame({ opcode: OPCODE.text, payload, rsv1: true })],
  payload => [frame({ opcode: OPCODE.continuation, payload })],
  payload => [frame({ opcode: OPCODE.text, payload, fin: false }), frame({ opcode: OPCODE.text, payload })],
  payload => [frame({ opcode: OPCODE.binary, payload })],
  (payload, random) => [
    frame({ opcode: OPCODE.text, payload: payload.subarray(0, random.below(payload.length + 1)), fin: false })
  ],
  (_payload, random) => [
    frame({
      opcode: random.pick([OPCODE.ping, OPCODE.pong, OPCODE.close]),
      payload: random.bytes(random.pick([0, 1, 2, 125, 126, 200]))
    })
  ],
  (_payload, random) => [closeFrame(random.pick(CODES), random.pick(['', 'bye', 'x'.repeat(123), 'x'.repeat(124)]))],
  (_payload, random) => [closeFrame(random.pick(CODES), random.bytes(3))],
  (_payload, random) => [
    promise(random.pick([0n, 125n, 65_537n, 1n << 31n, 1n << 53n, 1n << 62n, (1n << 63n) - 1n, 1n << 63n]))
  ],
  (payload, random) => [
    frame({ opcode: OPCODE.text, payload: Buffer.alloc(random.pick(SIZES), payload.length === 0 ? 'x' : payload) })
  ],
  (payload, random) => fragments(Buffer.concat([payload, Buffer.alloc(300, ' ')]), random.pick([100, 300]))
]

/** A message as frames that break the rules of WebSocket, or stretch them. */
export function mutateFrames (payload: Buffer, random: Random): Buffer {
  const bytes = Buffer.concat(random.pick(SHAPES)(payload, random))
  return random.oneIn(4) ? mutateBytes(bytes, random, () => payload) : bytes
}

function control (random: Random): Buffer {
  return frame({ opcode: random.pick([OPCODE.ping, OPCODE.pong]), payload: random.bytes(random.below(8)) })
}

function fragments (payload: Buffer, count: number): Buffer[] {
  const size = Math.max(1, Math.ceil(payload.length / count))
  const parts: Buffer[] = []
  for (let at = 0; at < Math.max(1, payload.length); at += size) parts.push(payload.subarray(at, at + size))
  return parts.map((part, index) =>
    frame({ opcode: index === 0 ? OPCODE.text : OPCODE.continuation, payload: part, fin: index === parts.length - 1 })
  )
}
