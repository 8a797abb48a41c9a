import { setTimeout as sleep } from 'node:timers/promises'
import type { Gateway } from './gateway.js'
import { MIB, type Vitals } from './vitals.js'

const PATIENCE = 20_000
/** Objects and handles of the runtime that come and go with the moment. */
const MOMENTARY = 5
const HEAP = 8 * MIB
const RSS = 48 * MIB

export const TOLERANCE = `peers, sessions and files +0, objects and handles +${MOMENTARY} of a kind, heap +${HEAP / MIB} MiB, RSS +${RSS / MIB} MiB`

/** Waits until a gateway is as it was, as far as it gets: what is left, and how it is now. Without a base, until it rests. */
export async function settled (gateway: Gateway, base: Vitals | undefined): Promise<{ vitals: Vitals, left: string[] }> {
  const until = Date.now() + PATIENCE
  let before = base
  for (;;) {
    await sleep(250)
    const vitals = await gateway.vitals()
    const left = before === undefined ? ['unknown'] : surplus(before, vitals)
    if (base === undefined) before = vitals
    if (left.length === 0 || Date.now() > until) return { vitals, left }
  }
}

/** What there is more of than allowed. */
function surplus (base: Vitals, now: Vitals): string[] {
  const { rss, heap, files, peers, sessions } = base
  const bounds: Array<[string, number, number]> = [
    ['peers', now.peers, peers],
    ['sessions', now.sessions, sessions],
    ['files', now.files, files],
    ['heap', now.heap, heap + HEAP],
    ['RSS', now.rss, rss + RSS],
    ...kinds(base.handles, now.handles)
  ]
  return exceeded(bounds)
}

/** Of which objects there are more than allowed. */
export function survivors (base: Record<string, number>, now: Record<string, number>): string[] {
  return exceeded(kinds(base, now))
}

function exceeded (bounds: Array<[string, number, number]>): string[] {
  return bounds.filter(([, is, allowed]) => is > allowed).map(([name, is, allowed]) => `${name} ${is} instead of ${allowed}`)
}

function kinds (base: Record<string, number>, now: Record<string, number>): Array<[string, number, number]> {
  return Object.entries(now).map(([name, count]) => [name, count, (base[name] ?? 0) + MOMENTARY])
}

/** What there is more or less of. */
export function difference (base: Vitals, now: Vitals): Record<string, number> {
  return { peers: now.peers - base.peers, sessions: now.sessions - base.sessions, files: now.files - base.files, 'heap KiB': (now.heap - base.heap) / 1024, 'RSS MiB': (now.rss - base.rss) / MIB }
}
