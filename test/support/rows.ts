import type { Test } from 'tap'
import { transports, type Client, type TransportName } from './transports.js'
import type { Input } from './messages.js'
import { expectUnharmed, type Server } from './server.js'

/** The reply of each transport, in the words of summary.ts; transports that are not named are not tried. */
export type Expected = Partial<Record<TransportName, string>>

/** One row of the catalogue of bad input. */
export interface Row { row: string, title: string, input: Input, expect: Expected }

/**
 * Sends the input of every row through all transports the row names, at the same time; afterwards the server must be as
 * before.
 */
export async function tryRows (t: Test, server: Server, rows: Row[]): Promise<void> {
  for (const { row, title, input, expect } of rows) {
    await t.test(`${row}: ${title}`, async t => {
      const entries = Object.entries(expect) as Array<[TransportName, string]>
      const outcomes = await Promise.all(
        entries.map(async ([name, expected]) => [
          name,
          await tryTransport(server, name, input, expected.endsWith('silence'))
        ])
      )
      t.strictSame(Object.fromEntries(outcomes), expect)
      await expectUnharmed(t, server)
    })
  }
}

/**
 * The message is refused while it is read. HTTP shows it in its status; on HTTP+SSE only where no id names the call on
 * the stream.
 */
export function unreadable (code: number, id?: string, status = 400): Expected {
  const legacy = `${code} id ${id ?? 'null'}`
  const modern = `${code} ${id === undefined ? 'no id' : `id ${id}`}`
  return {
    session: `${status} ${legacy}`,
    stateless: `${status} ${modern}`,
    message: `${status} ${legacy}`,
    sse: `${id === undefined ? status : 202} ${legacy}`,
    websocket: legacy,
    'websocket 2026': modern,
    stdio: legacy,
    'stdio 2026': modern
  }
}

/** The message is taken and answered; the eras may answer, and be answered by HTTP, in their own ways. */
export function answered (legacy: string, modern = legacy, status = 200, modernStatus = status): Expected {
  return {
    session: `${status} ${legacy}`,
    stateless: `${modernStatus} ${modern}`,
    message: `${status} ${legacy}`,
    sse: `202 ${legacy}`,
    websocket: legacy,
    'websocket 2026': modern,
    stdio: legacy,
    'stdio 2026': modern
  }
}

/** Newer revisions let the model see what was wrong with the arguments of a tool. */
export function brokenArguments (): Expected {
  const error = answered('-32602 id 7')
  return {
    ...answered('isError id 7'),
    ...only(error, 'message', 'sse'),
    'session 2025-06-18': '200 -32602 id 7',
    'websocket 2025-06-18': '-32602 id 7'
  }
}

/** The message is taken and nothing is answered. */
export const ignored: Expected = {
  session: '202',
  stateless: '202',
  message: '202',
  sse: '202 silence',
  websocket: 'silence',
  'websocket 2026': 'silence',
  stdio: 'silence',
  'stdio 2026': 'silence'
}

export function only (expected: Expected, ...names: TransportName[]): Expected {
  return Object.fromEntries(Object.entries(expected).filter(([name]) => names.includes(name as TransportName)))
}

export function except (expected: Expected, ...names: TransportName[]): Expected {
  return Object.fromEntries(Object.entries(expected).filter(([name]) => !names.includes(name as TransportName)))
}

/** Rows that differ only in a value: the first is tried at every client, the others at one of each kind. */
export function variants (rows: Row[]): Row[] {
  return rows.map((row, index) =>
    index === 0 ? row : { ...row, expect: only(row.expect, 'session', 'stateless', 'websocket', 'stdio 2026') }
  )
}

async function tryTransport (server: Server, name: TransportName, input: Input, silent: boolean): Promise<string> {
  let client: Client | undefined
  try {
    client = await transports[name](server)
    return await client.send(input, silent)
  } catch (error) {
    return (error as Error).message
  } finally {
    await client?.close()
  }
}
