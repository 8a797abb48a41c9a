import { HttpConnection } from '../../support/http-connection.js'
import { ADA, bearer } from '../../support/keys.js'
import { encode, hello } from '../transports/transport.js'
import type { Answer, Caller } from './caller.js'
import { callKey, Tally } from './counts.js'
import type { Kind } from './kinds.js'

const REVISION = '2025-11-25'

/** What the program counted itself, from what its clients saw. */
export class Own extends Tally {
  /** Calls that were refused for their rate. */
  rated = 0
  /** Names that were made up. */
  names = 0

  /** A name that was never used before. */
  name (): string {
    return `invented-${this.names++}-${Math.random().toString(36).slice(2)}`
  }
}

/** Makes so many calls, of each kind in turn. */
export async function drive (caller: Caller, kinds: Kind[], calls: number, own: Own): Promise<void> {
  const possible = kinds.filter(({ ends }) => ends !== 'cancelled' || caller.cancel !== undefined)
  for (let made = 0; made < calls; made++) {
    const kind = possible[made % possible.length] as Kind
    const answer = await make(caller, kind, own.name())
    if (answer.error?.data?.['retryAfter'] !== undefined) own.rated++
    own.calls.add(callKey({ ...kind, ...caller, outcome: kind.ends ?? outcomeOf(answer) }))
  }
}

async function make (caller: Caller, { question, ends }: Kind, name: string): Promise<Answer> {
  if (ends !== 'cancelled') return await caller.call(question(name))
  await caller.cancel?.(question(name))
  return {}
}

function outcomeOf ({ result, error }: Answer): string {
  if (error !== undefined) return 'error'
  return result?.['isError'] === true ? 'failed' : 'ok'
}

/**
 * Requests that are refused before there is a call, in turn: without a credential, with a wrong one, of a foreign page.
 */
export async function beRefused (port: number, requests: number, own: Own): Promise<void> {
  const connection = new HttpConnection(port)
  const heads = [
    () => ({}),
    () => bearer(`pb_${own.name()}`),
    () => ({ ...bearer(ADA), Origin: `https://${own.name()}.example` })
  ]
  for (let made = 0; made < requests; made++) {
    const { status } = await connection.exchange({
      method: 'POST',
      path: '/mcp',
      headers: heads[made % heads.length]?.() ?? {},
      body: hello(REVISION)
    })
    own.refused.add(String(status))
  }
  connection.socket.destroy()
}

/** Clients under new names that open a session and end it. */
export async function visit (port: number, visits: number, own: Own): Promise<void> {
  const connection = new HttpConnection(port)
  for (let made = 0; made < visits; made++) {
    const body = encode(0, 'initialize', {
      protocolVersion: REVISION,
      capabilities: {},
      clientInfo: { name: own.name(), version: own.name() }
    })
    const { headers } = await connection.exchange({ method: 'POST', path: '/mcp', headers: bearer(ADA), body })
    await connection.exchange({
      method: 'DELETE',
      path: '/mcp',
      headers: { ...bearer(ADA), 'Mcp-Session-Id': String(headers.get('mcp-session-id')) }
    })
    own.calls.add(callKey({ method: 'initialize', transport: 'http', revision: REVISION, outcome: 'ok' }))
  }
  connection.socket.destroy()
}
