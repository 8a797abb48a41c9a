import { isDeepStrictEqual } from 'node:util'
import type { Test } from 'tap'
import type { Connection, Json } from './connection.js'

/** One example: what is sent, and what comes back as the document prints it. */
export interface Example {
  title: string
  send: Json | Json[]
  /** Everything that is printed must come; more members may. A regular expression stands for text that cannot be known. */
  back?: unknown
  /** The same, and nothing else may come. */
  exactly?: unknown
  /** Lists are longer than printed: each printed entry must be there, found by its uri or name. */
  lists?: Record<string, Json[]>
  /** Why it is not so yet. */
  todo?: string
}

/** Says what the examples say, one after the other, and compares. */
export async function replay (t: Test, client: Connection, examples: Example[]): Promise<void> {
  for (const { title, send, back, exactly, lists = {}, todo = '' } of examples) {
    const silent = !Array.isArray(send) && send.id === undefined
    if (silent) await client.tell(send)
    const answer = silent ? undefined : Array.isArray(send) ? await client.batch(send) : await client.say(send)
    if (back !== undefined) shows(t, answer, back, title, todo)
    if (exactly !== undefined) t.strictSame(answer, exactly, title, known(todo))
    for (const [member, entries] of Object.entries(lists)) includes(t, ((answer as Json).result as Json)[member] as Json[], entries, title, todo)
  }
}

/** Whatever is printed is there, value by value; members that are not printed do not count. */
export function shows (t: Test, actual: unknown, printed: unknown, title = 'it is as printed', todo = ''): void {
  t.strictSame(picked(actual, printed), printed, title, known(todo))
}

export function includes (t: Test, actual: Json[], entries: Json[], title = 'it is as printed', todo = ''): void {
  for (const entry of entries) {
    const found = actual.find(({ uri, name }) => entry.uri === undefined ? name === entry.name : uri === entry.uri)
    shows(t, found, entry, `${title}: ${String(entry.uri ?? entry.name)}`, todo)
  }
}

function picked (actual: unknown, printed: unknown): unknown {
  if (printed instanceof RegExp) return typeof actual === 'string' && printed.test(actual) ? printed : actual
  if (Array.isArray(printed) && Array.isArray(actual)) return actual.map((item, index) => picked(item, printed[index]))
  if (!isObject(printed) || !isObject(actual) || isDeepStrictEqual(actual, printed)) return actual
  const members = Object.keys(printed).filter(name => Object.hasOwn(actual, name))
  return Object.fromEntries(members.map(name => [name, picked(actual[name], printed[name])]))
}

const known = (todo: string): { todo?: string } => todo === '' ? {} : { todo }

const isObject = (value: unknown): value is Json => typeof value === 'object' && value !== null && !Array.isArray(value)
