import { setTimeout as sleep } from 'node:timers/promises'
import type { Gateway } from './gateway.js'
import { MIB, type Vitals } from './vitals.js'

const TIMEOUT = 60_000
/** Objects and handles of the runtime that come and go with the moment. */
const MOMENTARY = 5
const HEAP = 8 * MIB
const RSS = 48 * MIB

export const TOLERANCE = `peers, sessions and files +0, objects and handles +${MOMENTARY} of a kind, heap +${HEAP / MIB} MiB, RSS +${RSS / MIB} MiB`

/**
 * Waits until there is no more of anything than allowed, as far as that gets: what is too much, and how the gateway is
 * now.
 */
export async function settled (
  gateway: Gateway,
  allowed: Vitals,
  timeout = TIMEOUT
): Promise<{ vitals: Vitals, left: string[] }> {
  const until = Date.now() + timeout
  for (;;) {
    const vitals = await gateway.vitals()
    const left = surplus(allowed, vitals)
    if (left.length === 0 || Date.now() > until) return { vitals, left }
    await sleep(250)
  }
}

/** How a gateway is that does not become any smaller. */
export async function atRest (gateway: Gateway): Promise<Vitals> {
  let { vitals } = await settled(gateway, withTolerance(await gateway.vitals()))
  for (let before = Infinity; vitals.files + vitals.peers + vitals.sessions < before;) {
    before = vitals.files + vitals.peers + vitals.sessions
    await sleep(500)
    vitals = await gateway.vitals()
  }
  return vitals
}

/** How a gateway may be that was so before. */
export function withTolerance (base: Vitals): Vitals {
  const handles = Object.fromEntries(Object.entries(base.handles).map(([name, count]) => [name, count + MOMENTARY]))
  return { ...base, alive: base.alive + MOMENTARY, heap: base.heap + HEAP, rss: base.rss + RSS, handles }
}

/** Of which objects there are more than before. */
export function survivors (base: Record<string, number>, now: Record<string, number>): string[] {
  return exceeded(Object.entries(now).map(([name, count]) => [name, count, (base[name] ?? 0) + MOMENTARY]))
}

function surplus (allowed: Vitals, now: Vitals): string[] {
  const counts = (['peers', 'alive', 'sessions', 'files', 'heap', 'rss'] as const).map(
    name => [name, now[name], allowed[name]] as Bound
  )
  return exceeded([
    ...counts,
    ...Object.entries(now.handles).map(([name, count]) => [name, count, allowed.handles[name] ?? MOMENTARY] as Bound)
  ])
}

type Bound = [name: string, is: number, allowed: number]

function exceeded (bounds: Bound[]): string[] {
  return bounds
    .filter(([, is, allowed]) => is > allowed)
    .map(([name, is, allowed]) => `${name} ${is} instead of ${Math.floor(allowed)}`)
}

/** What there is more or less of. */
export function difference (base: Vitals, now: Vitals): Record<string, number> {
  return {
    peers: now.peers - base.peers,
    'peers alive': now.alive - base.alive,
    sessions: now.sessions - base.sessions,
    files: now.files - base.files,
    'heap KiB': (now.heap - base.heap) / 1024,
    'RSS MiB': (now.rss - base.rss) / MIB
  }
}
