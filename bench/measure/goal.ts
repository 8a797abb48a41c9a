import type { Spread } from './statistics.js'

/** What one question found out. */
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

/** Whether the median reaches the goal; nobody can say where there is none. */
export function isMet ({ goal, ours: { median }, peers }: Pick<Finding, 'goal' | 'ours' | 'peers'>): boolean | undefined {
  if (goal === undefined) return undefined
  const { atLeast = -Infinity, atMost = Infinity, below } = parseGoal(goal)
  const others = below === undefined ? [] : peers.filter(({ name }) => below.includes(name))
  return median >= atLeast && median <= atMost && others.every(({ figure }) => median < figure.median)
}
