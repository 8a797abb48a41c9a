import { signal } from '@preact/signals'
import { isObject, mayWatch, type Client, type Handlers, type Json } from '../client/contract.js'
import { WATCH, WATCH_BATCH, type UpstreamRow } from '../client/watch-batch.js'
import type { Item } from './lists.js'

/** The upstream servers and how they are, for callers who may watch; empty for others. */
export const servers = signal<readonly UpstreamRow[]>([])

/**
 * Hears of the upstream servers, and that calls wait for operators, as long as there is this client. Returns how to end
 * it.
 */
export function followServers (client: Client): () => void {
  const stop = new AbortController()
  const off = client.onNotification((method, { upstreams }) => {
    if (method === WATCH_BATCH && Array.isArray(upstreams)) servers.value = rowsOf(upstreams)
  })
  if (mayWatch(client)) {
    client
      .request(WATCH, { only: ['upstreams', 'approvals'] }, { signal: stop.signal })
      .catch(() => {})
      .finally(off)
  }
  return () => {
    off()
    stop.abort()
    servers.value = []
  }
}

/** Starts a server that does not run. Rejects with the reason of the gateway. */
export async function startServer (client: Client, server: string): Promise<void> {
  await client.request('patchbay/servers/start', { server })
}

/**
 * Signs in to a server: the gateway asks to open a page. Resolves when that is done, and rejects with the words of the
 * gateway where it cannot be.
 */
export async function signIn (
  client: Client,
  server: string,
  handlers: Pick<Handlers, 'onQuestion' | 'onQuestionGone' | 'signal'>
): Promise<void> {
  await client.request('patchbay/servers/sign-in', { server }, handlers)
}

/** Reads what a server wrote last to standard error. */
export async function readServerLog (client: Client, server: string): Promise<string[]> {
  const { lines } = await client.request('patchbay/servers/log', { server })
  return Array.isArray(lines) ? lines.map(String) : []
}

export const failingOf = (all: readonly UpstreamRow[]): UpstreamRow[] => all.filter(({ failing }) => failing === true)

/** True for a server that a person can start: one that is configured and does not run. */
export const canStart = ({ state }: UpstreamRow): boolean =>
  state === 'stopped' || state === 'backing off' || state === 'crash loop' || state === 'needs sign-in'

/**
 * The servers that stand in the list of tools themselves: those that fail or start, and those that offer nothing yet,
 * or nothing that could be listed. A filter finds them by their name.
 */
export function serversShown (all: readonly UpstreamRow[], items: readonly Item[], typed: string): UpstreamRow[] {
  const groups = new Set(items.map(({ group }) => group))
  const words = typed.toLowerCase().split(/\s+/).filter(word => word !== '')
  const isShown = ({ alias, state, failing, warnings, pins }: UpstreamRow): boolean =>
    state === 'ready'
      ? !groups.has(alias) && (isFull(warnings) || (isObject(pins) && isFull(pins.differences)))
      : state !== 'disabled' && (failing === true || !groups.has(alias))
  return all.filter(server => isShown(server) && words.every(word => server.alias.toLowerCase().includes(word)))
}

const isFull = (value: unknown): boolean => Array.isArray(value) && value.length > 0

/** How a server that does not run goes on, in a sentence; `now` is the time of the gateway. */
export function outlookOf ({ alias, state, failing, nextTryAt }: UpstreamRow, now: number): string {
  switch (state) {
    case 'starting':
      return failing === true ? 'It is being started again.' : 'It is being started.'
    case 'backing off':
      return nextTryAt === undefined
        ? 'It is tried again by itself.'
        : `It is tried again in ${Math.max(1, Math.ceil((nextTryAt - now) / 1_000))} s.`
    case 'crash loop':
      return 'It failed too often in a row, and is not started again by itself.'
    case 'needs sign-in':
      return `A person has to sign in: here, or with patchbay login ${alias} where the gateway runs, with its options. It is used from then on.`
    case 'stopped':
      return failing === true ? 'It is started again by the next call.' : 'It is started when it is needed.'
    case 'misconfigured':
      return 'It is left out. Mend its configuration, then reload it (SIGHUP, or a restart).'
    default:
      return ''
  }
}

/** Rows as far as they can be shown, of whatever came. */
const rowsOf = (rows: Json[]): UpstreamRow[] =>
  rows.filter(
    row => isObject(row) && typeof row.alias === 'string' && typeof row.state === 'string'
  ) as unknown as UpstreamRow[]
