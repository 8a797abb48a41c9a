import { versions } from '../../protocol/revisions/table.js'
import { LEVELS } from '../../protocol/wire/log-level.js'
import { promptFields, type Listed } from './describe.js'
import { COMMAND_WORDS, type NameKind } from './command-words.js'
import { fieldsOf, typeInWords, type Fields } from './shape.js'
import { shownInLine } from './terminal.js'

/** One way to go on, and a few words about it. */
export interface Candidate { readonly word: string, readonly about: string }

/** The lists of the server that a command line names, and the names in its settings. */
export interface Lists {
  of (kind: 'tools' | 'prompts' | 'resources', before: readonly string[]): Promise<readonly Listed[]>
  names (kind: NameKind, before: readonly string[]): Promise<readonly string[]>
}

/** The commands that ask a server for its things. */
const ASKING = new Set(['tools', 'call', 'read', 'prompt', 'watch'])

/** The flags whose value is the next word, and the values where they are few. */
const VALUES: Record<string, readonly string[]> = {
  '--format': ['json', 'text'],
  '--revision': versions,
  '--log-level': [...LEVELS, 'silent'],
  ...Object.fromEntries([
    'url', 'key', 'header', 'view', 'config', 'host', 'port', 'timeout', 'out',
    'plugin', 'root', 'mcp-config', 'data', 'redis', 'limit', 'log-format'
  ].map(name => [`--${name}`, []]))
}

/**
 * The ways to go on with the last of these words, which follow `patchbay`. None where a file may be meant, or another
 * program follows.
 */
export async function complete (
  words: readonly string[],
  commands: readonly string[],
  lists: Lists
): Promise<Candidate[]> {
  const current = words.at(-1) ?? ''
  const before = words.slice(0, -1)
  const [command, ...rest] = before
  const fits = (candidates: Candidate[]): Candidate[] => candidates.filter(({ word }) => word.startsWith(current))
  if (command === undefined) return fits(plain(commands))
  if (rest.includes('--')) return []
  const latest = rest.at(-1) ?? ''
  // `--json` of these two is followed by JSON.
  if (latest === '--json' && (command === 'call' || command === 'prompt')) return []
  if (command === 'help') return fits(plain(commands))
  const { flags = ['help'], words: own = [], repeats = false, values = {} } = COMMAND_WORDS[command] ?? {}
  const namesOf = async (kind: readonly string[] | NameKind = []): Promise<Candidate[]> =>
    plain(typeof kind === 'string' ? await lists.names(kind, rest) : kind)
  const all = { ...VALUES, ...values }
  if (Object.hasOwn(all, latest)) return fits(await namesOf(all[latest]))
  if (current.startsWith('-')) return fits(plain(flags.map(name => `--${name}`)))
  // A name of a server is no flag of ours.
  if (ASKING.has(command)) return fits(await thingsOf(command, rest, current, lists)).filter(({ word }) => !word.startsWith('-'))
  const given = positionals(rest, all)
  const kind = own[given.length] ?? (repeats ? own.at(-1) : undefined)
  return fits(await namesOf(kind)).filter(({ word }) => !word.startsWith('-') && !given.includes(word))
}

async function thingsOf (
  command: string,
  rest: readonly string[],
  current: string,
  lists: Lists
): Promise<Candidate[]> {
  const [name, ...given] = positionals(rest, VALUES)
  if (command === 'read' || command === 'watch') {
    return listNamed(await lists.of('resources', rest), 'uri')
  }
  const kind = command === 'prompt' ? 'prompts' : 'tools'
  if (name === undefined) return listNamed(await lists.of(kind, rest), 'name')
  if (command === 'tools') return []
  const listed = (await lists.of(kind, rest)).find(entry => entry.name === name)
  if (listed === undefined) return []
  return argumentsOf(kind === 'tools' ? fieldsOf(listed.inputSchema) : promptFields(listed.arguments), given, current)
}

/** The names of arguments that are not given yet, or the values of the one that is being written. */
function argumentsOf ({ fields, required }: Fields, given: readonly string[], current: string): Candidate[] {
  const [, key] = /^(.+?)=/.exec(current) ?? []
  if (key !== undefined) {
    const shape = fields.get(key)
    const choices = shape?.choices ?? shape?.items?.choices
    const values = choices?.map(({ value, title = '' }) => ({ word: String(value), about: title })) ??
      (shape?.types.has('boolean') === true ? plain(['true', 'false']) : [])
    return values.map(({ word, about }) => ({ word: `${key}=${word}`, about }))
  }
  const taken = new Set(given.map(word => /^(.+?):?=/.exec(word)?.[1]))
  return [...fields]
    .filter(([field, { types }]) => !taken.has(field) || types.has('array'))
    .map(([field, shape]) => ({
      word: `${field}=`,
      about: shownInLine([typeInWords(shape), required.has(field) ? 'required' : '', shape.description ?? ''].filter(text => text !== '').join(', '))
    }))
}

/** The words that are neither flags nor their values. */
function positionals (words: readonly string[], values: object): string[] {
  return words.filter((word, index) => !word.startsWith('-') && !Object.hasOwn(values, words[index - 1] ?? ''))
}

const plain = (words: readonly string[]): Candidate[] => words.map(word => ({ word, about: '' }))

const listNamed = (entries: readonly Listed[], key: string): Candidate[] =>
  entries.map(entry => ({
    word: String(entry[key]),
    about: shownInLine(typeof entry['description'] === 'string' ? entry['description'] : '').slice(0, 80)
  }))

/** The words of a line as a shell would split it, the last one as far as it is written. */
export function splitLine (line: string): string[] {
  const words: string[] = ['']
  let quote = ''
  for (let at = 0; at < line.length; at++) {
    const letter = line[at] ?? ''
    const last = words.length - 1
    if (letter === '\\' && quote !== "'" && at + 1 < line.length) words[last] += line[++at] ?? ''
    else if (quote !== '' ? letter === quote : letter === '"' || letter === "'") quote = quote === '' ? letter : ''
    else if (quote === '' && /\s/.test(letter)) { if (words[last] !== '') words.push('') } else words[last] += letter
  }
  return words
}
