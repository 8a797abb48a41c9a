import { initialize } from '../../support/messages.js'
import type { Step } from '../case.js'
import { REVISIONS } from '../openings.js'
import type { Random } from '../random.js'
import { Members, readTree, Text, writeTree, type Node } from '../tree.js'

type Change = (steps: Step[], at: number, random: Random, other: () => Buffer) => void

const json = (value: object): Step => ({ bytes: Buffer.from(JSON.stringify({ jsonrpc: '2.0', ...value })) })

const CHANGES: Change[] = [
  (steps, at) => {
    steps.splice(at, 0, { ...(steps[at] as Step) })
  },
  (steps, at) => {
    if (steps.length > 1) steps.splice(at, 1)
  },
  (steps, at, random) => {
    steps.push(...steps.splice(at, 1 + random.below(2)))
  },
  (steps, at, _random, other) => {
    steps.splice(at, 0, { bytes: other() })
  },
  (steps, at, _random, other) => {
    steps.splice(at, 0, { bytes: other() })
  },
  (steps, at) => {
    steps.splice(at, 0, json({ id: 0, method: 'initialize', params: {} }))
  },
  (steps, at, random) => {
    steps.splice(
      at + 1,
      0,
      json({
        method: 'notifications/cancelled',
        params: { requestId: idOf(steps[at] as Step) ?? random.pick([0, 1, '', 'x', null]), reason: 'x' }
      })
    )
  },
  (steps, at, random) => {
    steps.splice(
      at,
      0,
      json({ method: 'notifications/cancelled', params: { requestId: random.pick([0, 1, -1, 1.5, '', {}, null, 99]) } })
    )
  },
  (steps, at, random) => {
    steps.splice(
      at,
      0,
      json({
        id: random.pick([0, 1, 2, 3, 'x', null]),
        ...random.pick([
          { result: {} },
          { error: { code: 1, message: 'x' } },
          { result: null },
          { error: null },
          { result: {}, error: { code: 1, message: 'x' } },
          { result: null, error: null }
        ])
      })
    )
  },
  // The handshake once more, in the middle of everything.
  (steps, at, random) => {
    steps.splice(at, 0, {
      bytes: Buffer.from(
        initialize(random.pick(REVISIONS), random.pick([{}, { elicitation: {} }]), random.pick([0, 7, 'hello']))
      )
    })
  },
  (steps, at, random) => {
    const step = steps[at] as Step
    steps.splice(at, 1, { ...step, bytes: batch([step, step, ...(random.oneIn(2) ? [step] : [])]) })
  },
  (steps, at, random) => {
    steps.splice(at, random.below(3), { bytes: batch(steps.slice(at, at + 1 + random.below(4))) })
  },
  (steps, at, _random, other) => {
    steps.splice(at, 1, { bytes: batch([steps[at] as Step, { bytes: other() }]) })
  },
  (steps, at) => {
    for (const step of steps) step.bytes = sameId(step.bytes, (steps[at] as Step).bytes)
  }
]

/** Changes the order of steps: doubled, left out, too early, cancelled, answers to no question, in one array. */
export function mutateSequence (steps: Step[], random: Random, others: () => Buffer): void {
  random.pick(CHANGES)(steps, random.below(steps.length), random, others)
  if (steps.length > 12) steps.length = 12
}

function batch (steps: Step[]): Buffer {
  return Buffer.from(`[${steps.map(({ bytes }) => bytes.toString()).join(',')}]`)
}

function idOf ({ bytes }: Step): unknown {
  try {
    return (JSON.parse(bytes.toString()) as { id?: unknown } | null)?.id
  } catch {
    return undefined
  }
}

function sameId (bytes: Buffer, model: Buffer): Buffer {
  const [tree, from] = [readTree(bytes), readTree(model)]
  if (!(tree instanceof Members) || !(from instanceof Members)) return bytes
  const id: Node = from.entries.find(([key]) => key === 'id')?.[1] ?? new Text('1')
  for (const entry of tree.entries) if (entry[0] === 'id') entry[1] = id
  return Buffer.from(writeTree(tree))
}
