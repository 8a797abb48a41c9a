import type { Test } from 'tap'
import { campaign, type Report } from './campaign.js'
import type { Case, TargetName } from './case.js'
import type { Plugin } from './gateway.js'
import { open } from './targets/all.js'
import { waitLimits } from './waiting.js'
import { Watch } from './watch.js'

/** Always the same inputs: tests fail for what was changed, not for what was thrown. */
export const SEED = 'short'

export interface Short { count: number, plugins?: Plugin[], corpus?: Case[] }

/** A small campaign against one target. */
export async function short (t: Test, name: TargetName, { count, plugins = [], corpus = [] }: Short): Promise<Report> {
  const watch = new Watch(false)
  t.teardown(() => watch.stop())
  return await campaign({
    name,
    open: async () => await open[name](plugins),
    seed: SEED,
    count,
    until: Infinity,
    corpus,
    watch,
    learn: false,
    enough: 1
  })
}

/** Where answers are bound to be missing, they are not waited for as long as elsewhere. */
export function hurry (t: Test, small = waitLimits.small): void {
  const usual = { ...waitLimits }
  Object.assign(waitLimits, { ms: 1_000, alone: 150, small })
  t.teardown(() => Object.assign(waitLimits, usual))
}
