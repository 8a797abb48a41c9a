import { parseArgs } from 'node:util'
import { TARGETS, type TargetName } from './case.js'

export interface Command {
  seed: string
  count: number
  minutes: number
  targets: readonly TargetName[]
  replay: string | undefined
  keep: boolean
  learn: boolean
}

const COUNT = 200_000
/** Enough for the default count on a slow machine; a run that needs longer has failed. */
const MINUTES = 10

export const USAGE = `npm run fuzz -- [--seed TEXT] [--count N] [--minutes M] [--target ${TARGETS.join('|')}] [--learn] [--keep] [--replay FILE]
  --seed     the same seed sends the same inputs over the wires, and nearly the same to the dispatcher; a new one is made up and printed when absent
  --count    how many new messages to make and send to all targets together, after the known ones of test/fuzz/corpus/ (${COUNT}; no limit when only --minutes is given)
  --minutes  when to stop in any case (${MINUTES})
  --target   only this one
  --learn    change further at once what showed something new, over the wires too; the same seed then sends other inputs
  --keep     write what showed new behaviours to test/fuzz/corpus/
  --replay   run the cases of one file again, and nothing else`

/** Reads the words after the command. Throws a sentence on a mistake. */
export function readCommand (words: string[]): Command {
  const { values } = parseArgs({
    args: words,
    options: {
      seed: { type: 'string' },
      count: { type: 'string' },
      minutes: { type: 'string' },
      target: { type: 'string' },
      replay: { type: 'string' },
      keep: { type: 'boolean', default: false },
      learn: { type: 'boolean', default: false }
    }
  })
  const { seed, minutes, target, replay, keep, learn } = values
  const count = values.count ?? (minutes === undefined ? COUNT : Infinity)
  if (target !== undefined && !isTarget(target)) throw new Error(`--target must be one of ${TARGETS.join(', ')}`)
  return {
    seed: seed ?? String(Date.now() % 1_000_000),
    count: positive('--count', count),
    minutes: positive('--minutes', minutes ?? MINUTES),
    targets: target === undefined ? TARGETS : [target],
    replay,
    keep,
    learn
  }
}

const isTarget = (name: string): name is TargetName => (TARGETS as readonly string[]).includes(name)

function positive (name: string, given: string | number): number {
  const number = Number(given)
  if (!(number > 0)) throw new Error(`${name} must be a number above 0`)
  return number
}
