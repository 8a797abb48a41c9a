import { Turns } from '../../lib/turns.js'
import { isObject } from '../../protocol/wire/json.js'
import { plainOf, sectionOf, type Section } from './definitions.js'

/** The accepted definitions of servers, by alias. */
export type Lock = ReadonlyMap<string, Section>

/** The version of the form of a lock. */
const VERSION = 1

/** The beginning and the end of a definition in the form that we write: no line within one is indented less. */
const BEGIN = '        "'
const END = '        }'

/** Settles to the text of a lock: equal locks have equal texts, and each definition has lines of its own. */
export async function writeLock (lock: Lock): Promise<string> {
  const servers: Array<[string, unknown]> = []
  for (const alias of [...lock.keys()].sort()) {
    const section = lock.get(alias)
    if (section !== undefined) servers.push([alias, await plainOf(section)])
  }
  return `${JSON.stringify({ version: VERSION, servers: Object.fromEntries(servers) }, null, 2)}\n`
}

/**
 * Settles to the lock in a text. One in the form that we write is read in short turns. Rejects with a sentence about
 * what is wrong.
 */
export async function readLock (text: string): Promise<Lock> {
  const value = await parseInTurns(text) ?? await parseWhole(text)
  if (!isObject(value) || value.version === undefined) throw new Error('it is no lock: it has no "version"')
  const { version, servers, ...rest } = value
  if (typeof version === 'number' && version > VERSION) {
    throw new Error(`its version is ${version}, and this Patchbay knows ${VERSION}: use the Patchbay that wrote it, or a newer one`)
  }
  if (version !== VERSION) throw new Error(`its version must be ${VERSION}`)
  if (!isObject(servers)) throw new Error('servers must be an object with a section for each server')
  const [odd] = Object.keys(rest)
  if (odd !== undefined) throw new Error(`it has "${odd}", and only version and servers belong there`)
  const lock = new Map<string, Section>()
  for (const [alias, plain] of Object.entries(servers)) lock.set(alias, await sectionOf(plain, `servers.${alias}`))
  return lock
}

/**
 * Parses each definition alone, and the rest with one number in the place of those that follow each other. Undefined
 * where the text has another form, such as one that was written by hand.
 */
async function parseInTurns (text: string): Promise<unknown> {
  const groups: Array<Map<string, unknown>> = []
  const turns = new Turns()
  // Git may end the lines as Windows does.
  const eol = text.startsWith('{\r\n') ? '\r\n' : '\n'
  let frame = ''
  let at = 0
  try {
    for (let begin = text.indexOf(eol + BEGIN); begin >= 0; begin = text.indexOf(eol + BEGIN, at)) {
      const lineEnd = text.indexOf(eol, begin + 1)
      const end = text.indexOf(eol + END, lineEnd)
      if (text.slice(lineEnd - 3, lineEnd) !== ': {' || end < 0) return undefined
      const gap = text.slice(at, begin)
      if (groups.length === 0 || gap !== ',') frame += `${gap}"": ${groups.push(new Map()) - 1}`
      const group = groups.at(-1)
      const name = JSON.parse(text.slice(begin + eol.length + BEGIN.length - 1, lineEnd - 3)) as string
      if (group?.has(name) === true) return undefined
      at = end + eol.length + END.length
      group?.set(name, JSON.parse(text.slice(lineEnd - 1, at)))
      const pause = turns.pause()
      if (pause !== undefined) await pause
    }
    const value: unknown = JSON.parse(frame + text.slice(at))
    return groups.length > 0 && fill(value, groups) === groups.length ? value : undefined
  } catch {
    return undefined
  }
}

/** Puts definitions in the places of their numbers. Returns how many numbers there were. */
function fill (value: unknown, groups: ReadonlyArray<ReadonlyMap<string, unknown>>): number {
  if (!isObject(value) || !isObject(value.servers)) return 0
  let filled = 0
  for (const section of Object.values(value.servers)) {
    for (const [kind, entries] of Object.entries(isObject(section) ? section : {})) {
      if (!isObject(entries) || !isObject(section)) continue
      const [[name, index] = [], ...others] = Object.entries(entries)
      if (name !== '' || typeof index !== 'number' || others.length > 0) throw new Error('not in the form that we write')
      section[kind] = groups[index]
      filled++
    }
  }
  return filled
}

/** The line where a merge that was not finished begins. */
const MERGE = /^(?:<{7}|={7}|>{7})/m

async function parseWhole (text: string): Promise<unknown> {
  const merge = MERGE.exec(text)
  if (merge !== null) {
    throw new Error(`line ${text.slice(0, merge.index).split('\n').length}: a merge is not finished; choose what is accepted`)
  }
  // The parser that knows lines is loaded only for text that was not written by us.
  const { parseJsonc } = await import('../config/formats/jsonc.js')
  const { value, repeatedAt } = document(() => parseJsonc(text))
  const places = [[], ['servers'], ...pathsIn(value)]
  const [repeated] = places.flatMap(path => repeatedAt?.(path) ?? [])
  if (repeated !== undefined) {
    throw new Error(`line ${repeated.line}: "${repeated.name}" is there twice; remove the one that is not accepted`)
  }
  return value
}

function document<T> (parse: () => T): T {
  try {
    return parse()
  } catch (error) {
    const { message, line } = error as Error & { line?: number }
    throw new Error(`${line === undefined ? '' : `line ${line}: `}${message}`, { cause: error })
  }
}

/** The paths of the objects in which a merge can leave a name twice. */
function pathsIn (value: unknown): string[][] {
  const servers = isObject(value) && isObject(value.servers) ? value.servers : {}
  return Object.entries(servers).flatMap(([alias, section]) => [
    ['servers', alias],
    ...Object.keys(isObject(section) ? section : {}).map(kind => ['servers', alias, kind])
  ])
}
