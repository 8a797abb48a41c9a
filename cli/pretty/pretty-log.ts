import type { Environment } from '../../system/environment.js'
import { ownFrames } from './own-frames.js'

type Values = Record<string, unknown>

const LEVELS: Record<number, [word: string, colour: Colour]> = {
  10: ['trace', 'dim'], 20: ['debug', 'dim'], 40: ['warn', 'yellow'], 50: ['error', 'red'], 60: ['fatal', 'red']
}
const OUTCOMES: Record<string, Colour> = {
  ok: 'green',
  failed: 'yellow',
  error: 'red',
  denied: 'yellow',
  refused: 'yellow',
  cancelled: 'dim'
}
/** The fields of a record that its sentence has, in words. */
const IN_SENTENCE = new Set([
  'level',
  'time',
  'pid',
  'hostname',
  'msg',
  'err',
  'audit',
  'reload',
  'method',
  'tool',
  'resource',
  'prompt',
  'id',
  'correlation',
  'span_id',
  'trace_flags'
])
const MAX_DETAIL = 200
const MAX_INNER = 5
/** Control characters, line breaks, and those that change the direction of text. */
const UNSAFE = /[\p{Cc}\u2028\u2029\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu

/**
 * Makes a function that turns a line of JSON of the logger into lines for people: time, sentence and details, and for
 * an error the frames of the author's files.
 */
export function prettyLog (paint: Paint, cwd: string): (line: string) => string {
  return line => {
    try {
      return recordText(JSON.parse(line) as Values, paint, cwd)
    } catch {
      return line
    }
  }
}

function recordText (record: Values, paint: Paint, cwd: string): string {
  const [word, colour] = LEVELS[Number(record['level'])] ?? []
  const audit = toValues(record['audit'])
  const first = [
    paint('dim', new Date(Number(record['time'])).toTimeString().slice(0, 8)),
    ...(word === undefined || colour === undefined ? [] : [paint(colour, word)]),
    sentenceOf(safe(textOf(record['msg'] ?? '')), audit['outcome'], paint),
    ...detailsOf({ ...record, detail: audit['detail'] }).map(detail => paint('dim', detail))
  ]
  return `${[first.join(' '), ...[...errorLines(record, cwd), ...writtenLines(record)].map(line => paint('dim', `  ${line}`))].join('\n')}\n`
}

/** The sentence of an audit line with its outcome in colour. */
function sentenceOf (sentence: string, outcome: unknown, paint: Paint): string {
  const colour = typeof outcome === 'string' ? OUTCOMES[outcome] : undefined
  return colour === undefined ? sentence : sentence.replace(` ${outcome} `, ` ${paint(colour, String(outcome))} `)
}

function detailsOf (record: Values): string[] {
  return Object.entries(record)
    .filter(([name, value]) => value !== undefined && !IN_SENTENCE.has(name) && !isWritten(name, value))
    .map(([name, value]) => {
      const text = textOf(value)
      const short = text.length > MAX_DETAIL ? `${text.slice(0, MAX_DETAIL)}...` : text
      // The member `data` is what a handler logged.
      return safe(name === 'data' ? short : `${name}=${short}`)
    })
}

/** Lines with the message of the error, unless the sentence has it, and its place. */
function errorLines ({ err, msg }: Values, cwd: string): string[] {
  if (err === undefined) return []
  if (typeof err !== 'object') return textOf(msg).includes(textOf(err)) ? [] : [safe(textOf(err))]
  const { type = 'Error', message = '', stack = '' } = toValues(err)
  const lines = textOf(message).split('\n')
  const isKnown = lines.length === 1 && textOf(msg).includes(textOf(message))
  const what = isKnown ? [] : [`${textOf(type)}: ${lines[0]}`, ...lines.slice(1)]
  return [...what, ...innerErrors(toValues(err)['aggregateErrors']), ...ownFrames(textOf(stack), cwd)].map(safe)
}

/** Lines that a program wrote before it failed. */
function writtenLines ({ lines }: Values): string[] {
  return isWritten('lines', lines) ? lines.map(line => safe(`| ${textOf(line)}`)) : []
}

const isWritten = (name: string, value: unknown): value is unknown[] => name === 'lines' && Array.isArray(value)

/** The messages of the errors in an `AggregateError`. */
function innerErrors (errors: unknown): string[] {
  if (!Array.isArray(errors)) return []
  const shown = errors
    .slice(0, MAX_INNER)
    .map(toValues)
    .map(({ type = 'Error', message = '' }) => `- ${textOf(type)}: ${textOf(message).slice(0, MAX_DETAIL)}`)
  return errors.length > MAX_INNER ? [...shown, `- and ${errors.length - MAX_INNER} more`] : shown
}

const toValues = (value: unknown): Values => typeof value === 'object' && value !== null ? value as Values : {}

const textOf = (value: unknown): string => typeof value === 'string' ? value : JSON.stringify(value) ?? ''

const safe = (text: string): string =>
  text.replace(UNSAFE, character => `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`)

export type Colour = 'dim' | 'red' | 'green' | 'yellow'
/** Puts a text into a colour, or leaves it as it is. */
export type Paint = (colour: Colour, text: string) => string

const CODES: Record<Colour, number> = { dim: 2, red: 31, green: 32, yellow: 33 }

/**
 * A function that colours text where that is wanted: on a terminal that is not `dumb`, unless NO_COLOR is set.
 * FORCE_COLOR overrides all of that.
 */
export function painter (
  { FORCE_COLOR: forced, NO_COLOR: no = '', TERM: term }: Environment,
  terminal: boolean
): Paint {
  const wanted = forced === undefined ? terminal && no === '' && term !== 'dumb' : !['0', 'false'].includes(forced)
  return wanted ? (colour, text) => `\u001b[${CODES[colour]}m${text}\u001b[0m` : (_colour, text) => text
}
