import type { Random } from '../random.js'

/** UTF-8 that is none, and bytes that programs stumble over. */
const ODD = [
  [0],
  [0xff],
  [0xfe, 0xff],
  [0xc0, 0xaf],
  [0xed, 0xa0, 0x80],
  [0xf4, 0x90, 0x80, 0x80],
  [0x80],
  [0xe2, 0x82],
  [0xef, 0xbb, 0xbf],
  [0x0d],
  [0x0d, 0x0a],
  [0x0a],
  [0x1b],
  [0x7f],
  [0x20],
  [0x5c],
  [0x22]
].map(bytes => Buffer.from(bytes))

type Change = (bytes: Buffer, at: number, random: Random, other: () => Buffer) => Buffer

const CHANGES: Change[] = [
  (bytes, at, random) => splice(bytes, at, 1, Buffer.from([(bytes[at] ?? 0) ^ (1 << random.below(8))])),
  (bytes, at, random) => splice(bytes, at, 1, random.bytes(1)),
  (bytes, at, random) => splice(bytes, at, 0, random.pick(ODD)),
  (bytes, at, random) => splice(bytes, at, random.below(4), random.pick(ODD)),
  (bytes, at, random) => splice(bytes, at, 1 + random.below(16), Buffer.alloc(0)),
  (bytes, at) => bytes.subarray(0, at),
  (bytes, at) => bytes.subarray(at),
  (bytes, at, random) => splice(bytes, at, 0, bytes.subarray(at, at + 1 + random.below(16))),
  (bytes, at, _random, other) => Buffer.concat([bytes.subarray(0, at), other().subarray(at)]),
  (bytes, at, _random, other) => splice(bytes, at, 0, other())
]

const RARE: Change[] = [
  bytes => Buffer.concat([Buffer.from([0xff, 0xfe]), Buffer.from(bytes.toString(), 'utf16le')]),
  bytes => Buffer.concat([Buffer.from([0xef, 0xbb, 0xbf]), bytes]),
  (_bytes, _at, random) => random.bytes(random.below(64)),
  () => Buffer.alloc(0),
  (bytes, at, random) =>
    splice(bytes, at, 0, Buffer.alloc(random.pick([1_000, 70_000]), random.pick([' ', 'x', '[', '\\']))),
  bytes => Buffer.concat([bytes, bytes])
]

/** Changes bytes without a thought for what they mean. */
export function mutateBytes (bytes: Buffer, random: Random, others: () => Buffer): Buffer {
  let mutated = bytes
  for (let times = 1 + random.below(3); times > 0; times--) {
    mutated = random.pick(random.oneIn(15) ? RARE : CHANGES)(mutated, random.below(mutated.length + 1), random, others)
  }
  return mutated
}

const splice = (bytes: Buffer, at: number, remove: number, insert: Buffer): Buffer =>
  Buffer.concat([bytes.subarray(0, at), insert, bytes.subarray(at + remove)])
