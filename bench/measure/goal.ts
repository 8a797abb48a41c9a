import type { Setting } from './rounds.js'
import type { Spread } from './statistics.js'

/** One result of a question. */
export interface Finding {
  what: string
  /** "≥ 0.85 of …", "≤ 4 KiB …"; missing when the figures are for information only. */
  goal?: string
  ours: Spread
  /** The limit in absolute figures: what the ratios of this machine are ratios of. */
  limit: string
  peers: Array<{ name: string, figure: Spread }>
}

export interface Goal { atLeast?: number, atMost?: number, below?: string }

/** The number in a goal, and whose figure it must be below, besides. */
export function parseGoal (text: string): Goal {
  const [, sign, number] = /^([≥≤]) (\d+(?:\.\d+)?) /.exec(`${text} `) ?? []
  if (sign === undefined) throw new Error(`"${text}" is no goal: it must begin like "≥ 0.85" or "≤ 4"`)
  const [, below] = /, and below (.+)$/.exec(text) ?? []
  return { [sign === '≥' ? 'atLeast' : 'atMost']: Number(number), ...(below === undefined ? {} : { below }) }
}

/** The goal for the kind of processor that runs the benchmarks. */
export function onThisMachine (goals: { arm64: string, x64: string }): string {
  return process.arch === 'arm64' ? goals.arm64 : goals.x64
}

export type Verdict = 'met' | 'NOT MET' | 'unclear'

/** "unclear" when some rounds reach the goal and some do not; undefined without a goal. */
export function verdictOf ({ goal, ours, peers }: Pick<Finding, 'goal' | 'ours' | 'peers'>): Verdict | undefined {
  if (goal === undefined) return undefined
  const { atLeast = -Infinity, atMost = Infinity, below } = parseGoal(goal)
  const others = below === undefined ? [] : peers.filter(({ name }) => below.includes(name))
  const ceiling = Math.min(atMost, ...others.map(({ figure }) => figure.min))
  if (ours.min >= atLeast && ours.max <= ceiling) return 'met'
  return ours.max < atLeast || ours.min > Math.min(atMost, ...others.map(({ figure }) => figure.max))
    ? 'NOT MET'
    : 'unclear'
}

/** Something that the benchmarks find out. */
export type Question = (setting: Setting) => Promise<Finding[]>
