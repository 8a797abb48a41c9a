import { BROKEN, KEYS, LEVELS, META_KEYS, METHODS, TOOLS, URIS, VALUES, VERSIONS } from '../dictionary.js'
import type { Random } from '../random.js'
import { Members, placesIn, readTree, Text, writeTree, type Node, type Place } from '../tree.js'

/** What fits a key, so that most of a mutated message still means something. */
const FITTING: Record<string, readonly string[]> = {
  method: METHODS,
  name: TOOLS,
  uri: URIS,
  protocolVersion: VERSIONS,
  [META_KEYS[0] as string]: VERSIONS,
  level: LEVELS,
  [META_KEYS[3] as string]: LEVELS,
  jsonrpc: ['2.0', '1.0', '2', '2.00', '']
}

const DEPTHS = [2, 31, 63, 64, 65, 66, 200, 3_000]
const LENGTHS = [10, 64, 65, 128, 129, 255, 256, 257, 1_000, 8_193]

/** Twice what the gateways under test take is large enough. */
const MAX_SIZE = 150_000

type Change = (place: Place, random: Random, other: () => Node) => void

const CHANGES: Change[] = [
  (place, random) => place.put(fitting(place, random)),
  (place, random) => place.put(fitting(place, random)),
  (place, random) => place.put(value(random)),
  (place, random) => place.put(value(random)),
  place => place.drop(),
  place => place.again(place.key ?? '', place.node),
  (place, random) => place.again(place.key ?? '', value(random)),
  (place, random) => place.again(random.pick(KEYS), value(random)),
  (place, random) => place.again(random.pick(KEYS), place.node),
  (place, random) => { place.drop(); place.again(random.pick(KEYS), place.node) },
  (place, random) => place.put(tweaked(place.node, random)),
  (place, random) => place.put(tweaked(place.node, random)),
  place => place.put([place.node]),
  (place, random) => place.put(new Members([[random.pick(KEYS), place.node]])),
  (place, random, other) => place.put(random.pick([...placesIn(other()).map(({ node }) => node), other()]))
]

const RARE: Change[] = [
  (place, random) => place.put(nested(random.pick(DEPTHS), random)),
  (place, random) =>
    place.put(new Text(JSON.stringify(random.pick(['x', 'é', '🦉', '\u0000']).repeat(random.pick(LENGTHS))))),
  (place, random) => place.put(Array.from({ length: random.pick([10, 101, 500]) }, () => value(random))),
  (place, random) =>
    place.put(
      new Members(Array.from({ length: random.pick([10, 101, 500]) }, (_none, index) => [`k${index}`, place.node]))
    ),
  (place, random) => place.put(new Text(random.pick(BROKEN))),
  // Many values that are each next to nothing.
  (place, random) =>
    place.put(
      new Text(
        `[${Array(random.pick([400, 3_000, 20_000]))
          .fill(random.pick(['0', '{}', '[]', '""', 'null']))
          .join()}]`
      )
    )
]

/** Changes a message here and there; `others` lends parts of other messages. What is no JSON stays as it is. */
export function mutateJson (bytes: Buffer, random: Random, others: () => Buffer): Buffer {
  const root = [readTree(bytes)] as [Node | undefined]
  if (root[0] === undefined) return bytes
  const holder = root as Node[]
  for (let times = 1 + random.below(3); times > 0; times--) {
    const places = placesIn(holder)
    if (places.length === 0 || places.length > 2_000) break
    const change = random.pick(random.oneIn(12) ? RARE : CHANGES)
    // The outermost place is the message itself: changed less often than what is in it.
    const place = random.oneIn(20) ? places[0] as Place : random.pick(places.slice(Math.min(1, places.length - 1)))
    change(place, random, () => readTree(others()) ?? new Text('0'))
  }
  const text = holder.map(writeTree).join(' ')
  return text.length > MAX_SIZE ? bytes : Buffer.from(text)
}

const value = (random: Random): Node => new Text(random.pick(VALUES))

function fitting ({ key = '' }: Place, random: Random): Node {
  const list = Object.hasOwn(FITTING, key) ? FITTING[key] : undefined
  return list === undefined ? value(random) : new Text(JSON.stringify(random.pick(list)))
}

function tweaked (node: Node, random: Random): Node {
  if (!(node instanceof Text)) return node
  if (/^-?\d/.test(node.json)) {
    return new Text(
      random.pick([
        `-${node.json}`,
        `${node.json}0`,
        `${node.json}.5`,
        `${node.json}e3`,
        `"${node.json}"`,
        String(Number(node.json) + 1)
      ])
    )
  }
  if (!node.json.startsWith('"')) return node
  const text = node.json.slice(1, -1)
  const at = random.below(text.length + 1)
  return new Text(
    `"${text.slice(0, at)}${random.pick(['\\u0000', '\\ud83d', 'é', '/', '%', '\\n', '', 'x', '{', '\\\\', '=', ' '])}${text.slice(at + random.below(2))}"`
  )
}

function nested (depth: number, random: Random): Node {
  return new Text(
    random.oneIn(2) ? '['.repeat(depth) + ']'.repeat(depth) : '{"a":'.repeat(depth) + '0' + '}'.repeat(depth)
  )
}
