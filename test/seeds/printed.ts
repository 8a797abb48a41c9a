import { isDeepStrictEqual } from 'node:util'
import type { Test } from 'tap'
import type { Connection, Json } from './connection.js'

/** One example: what is sent, and what comes back as the document prints it. */
export interface Example {
  title: string
  send: Json | Json[]
  /**
   * Everything that is printed must come; more members may. A regular expression stands for text that cannot be known.
   */
  back?: unknown
  /** The same, and nothing else may come. */
  exactly?: unknown
  /** Lists are longer than printed: each printed entry must be there, found by its uri or name. */
  lists?: Record<string, Json[]>
}

export const request = (id: number | string, method: string, params: Json = {}): Json => ({
  jsonrpc: '2.0',
  id,
  method,
  params
})

export const call = (id: number | string, name: string, args?: Json): Json =>
  request(id, 'tools/call', { name, ...(args === undefined ? {} : { arguments: args }) })

export const result = (id: number | string, result: Json): Json => ({ jsonrpc: '2.0', id, result })

/** The result of a tool with a text. */
export const text = (text: string | RegExp): Json => ({ content: [{ type: 'text', text }] })

/** Sends the messages of the examples, one after the other, and compares the answers. */
export async function replay (t: Test, client: Connection, examples: Example[]): Promise<void> {
  for (const { title, send, back, exactly, lists = {} } of examples) {
    const silent = !Array.isArray(send) && send.id === undefined
    if (silent) await client.send(send)
    const answer = silent ? undefined : Array.isArray(send) ? await client.batch(send) : await client.sendRequest(send)
    if (back !== undefined) shows(t, answer, back, title)
    if (exactly !== undefined) t.strictSame(answer, exactly, title)
    for (const [member, entries] of Object.entries(lists)) {
      includes(t, ((answer as Json).result as Json)[member] as Json[], entries, title)
    }
  }
}

/** Whatever is printed is there, value by value; members that are not printed do not count. */
export function shows (t: Test, actual: unknown, printed: unknown, title = 'it is as printed'): void {
  t.strictSame(picked(actual, printed), printed, title)
}

export function includes (t: Test, actual: Json[], entries: Json[], title = 'it is as printed'): void {
  for (const entry of entries) {
    const found = actual.find(({ uri, name }) => entry.uri === undefined ? name === entry.name : uri === entry.uri)
    shows(t, found, entry, `${title}: ${String(entry.uri ?? entry.name)}`)
  }
}

function picked (actual: unknown, printed: unknown): unknown {
  if (printed instanceof RegExp) return typeof actual === 'string' && printed.test(actual) ? printed : actual
  if (Array.isArray(printed) && Array.isArray(actual)) return actual.map((item, index) => picked(item, printed[index]))
  if (!isObject(printed) || !isObject(actual) || isDeepStrictEqual(actual, printed)) return actual
  const members = Object.keys(printed).filter(name => Object.hasOwn(actual, name))
  return Object.fromEntries(members.map(name => [name, picked(actual[name], printed[name])]))
}

const isObject = (value: unknown): value is Json => typeof value === 'object' && value !== null && !Array.isArray(value)
