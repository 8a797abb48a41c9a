import { createInterface, type Interface } from 'node:readline'
import { unlessAborted } from '../../lib/abort.js'
import type { ElicitAnswer } from '../../protocol/wire/client-answers.js'
import { isObject } from '../../protocol/wire/json.js'
import type { Params } from '../../protocol/wire/jsonrpc.js'
import type { Notes } from './notes.js'
import { toValue } from './read-arguments.js'
import { fieldsOf, typeInWords, type Shape } from './shape.js'
import { shown, shownInLine } from './terminal.js'

/** The streams of the process. */
interface Streams {
  readonly stdin: NodeJS.ReadStream
  readonly stderr: NodeJS.WriteStream
}

/** The words of people for values of JSON. */
const TRUTHS: Record<string, string> = { __proto__: null as never, y: 'true', yes: 'true', n: 'false', no: 'false' }

const inWords = (value: unknown): string =>
  Array.isArray(value) ? value.map(inWords).join(', ') : typeof value === 'string' ? value : JSON.stringify(value)

/** The user has ended the input. */
class InputEnded extends Error {}

/** The lines that a user types, also ahead of a question, until it is closed. */
class Lines {
  readonly #open: Interface
  readonly #output: Streams['stderr']
  readonly #typed: string[] = []
  #waiting: { resolve: (line: string) => void, reject: (why: Error) => void } | undefined
  #hasEnded = false

  /** `interrupt` runs for Ctrl-C: a terminal that is asked on sends no signal. */
  constructor ({ stdin, stderr }: Streams, interrupt: () => void) {
    this.#output = stderr
    this.#open = createInterface({ input: stdin, output: stderr, terminal: true })
    this.#open.on('SIGINT', interrupt)
    this.#open.on('line', line => {
      if (this.#waiting === undefined) this.#typed.push(line)
      else this.#waiting.resolve(line)
      this.#waiting = undefined
    })
    this.#open.on('close', () => {
      this.#hasEnded = true
      this.#waiting?.reject(new InputEnded())
    })
  }

  show (text: string): void {
    this.#output.write(`${text}\n`)
  }

  async read (question: string, signal: AbortSignal): Promise<string> {
    signal.throwIfAborted()
    const line = this.#typed.shift()
    if (line !== undefined) {
      this.show(`${question}${line}`)
      return line
    }
    if (this.#hasEnded) throw new InputEnded()
    this.#open.setPrompt(question)
    this.#open.prompt()
    const typed = new Promise<string>((resolve, reject) => { this.#waiting = { resolve, reject } })
    return await unlessAborted(typed, signal)
  }

  close (): void {
    this.#waiting = undefined
    this.#open.close()
  }
}

/** Asks the user what a server wants to know, one question at a time; without a terminal, declines it in words. */
export class Questions {
  readonly #notes: Notes
  readonly #streams: Streams
  readonly #interrupt: () => void
  #turn: Promise<unknown> = Promise.resolve()
  #open: Lines | undefined

  /** `interrupt` runs for Ctrl-C during a question. */
  constructor (notes: Notes, streams: Streams, interrupt: () => void) {
    this.#notes = notes
    this.#streams = streams
    this.#interrupt = interrupt
  }

  async elicit (params: Params, signal: AbortSignal): Promise<ElicitAnswer> {
    const turn = this.#turn.then(async () => await this.#answer(params, signal))
    this.#turn = turn.catch(() => {})
    return await turn
  }

  close (): void {
    this.#open?.close()
  }

  async #answer (params: Params, signal: AbortSignal): Promise<ElicitAnswer> {
    signal.throwIfAborted()
    const { stdin, stderr } = this.#streams
    const message = shown(typeof params.message === 'string' ? params.message : 'something')
    if (!stdin.isTTY || !stderr.isTTY) {
      const page = typeof params.url === 'string' ? ` (${shownInLine(params.url)})` : ''
      this.#notes.say(`patchbay: the server asks: ${shownInLine(message)}${page}; declined, because this is no terminal`)
      return { action: 'decline' }
    }
    this.#notes.say(`The server asks: ${message}`)
    this.#notes.hold()
    const lines = this.#open = new Lines(this.#streams, this.#interrupt)
    try {
      return typeof params.url === 'string'
        ? await openPage(params.url, lines, signal)
        : await fillForm(params, lines, signal)
    } catch (error) {
      if (error instanceof InputEnded && !signal.aborted) return { action: 'cancel' }
      throw error
    } finally {
      lines.close()
      this.#open = undefined
      this.#notes.release()
    }
  }
}

async function openPage (url: string, lines: Lines, signal: AbortSignal): Promise<ElicitAnswer> {
  const host = URL.canParse(url) ? new URL(url).host : ''
  lines.show(`Open this page in a browser, if you trust ${shownInLine(host) || 'it'}:\n  ${shownInLine(url)}`)
  return { action: await confirm('Go on when it is done? [Y/n] ', lines, signal) ? 'accept' : 'decline' }
}

async function fillForm ({ requestedSchema }: Params, lines: Lines, signal: AbortSignal): Promise<ElicitAnswer> {
  const { fields, required } = fieldsOf(isObject(requestedSchema) ? requestedSchema : {})
  const content: Record<string, unknown> = {}
  for (const [name, shape] of fields) {
    const value = await readField(name, shape, required.has(name), lines, signal)
    if (value !== undefined) content[name] = value
  }
  const isAccepted = await confirm('Send this to the server? [Y/n] ', lines, signal)
  return isAccepted ? { action: 'accept', content } : { action: 'decline' }
}

/** Asks until the value fits; undefined where the user leaves out what need not be there. */
async function readField (
  name: string,
  shape: Shape,
  isRequired: boolean,
  lines: Lines,
  signal: AbortSignal
): Promise<unknown> {
  const { description, fallback, choices = shape.items?.choices } = shape
  if (description !== undefined) lines.show(`  ${shown(description)}`)
  for (const { value, title } of choices ?? []) {
    lines.show(`    ${shownInLine(String(value))}${title === undefined ? '' : `  ${shownInLine(title)}`}`)
  }
  const type = shape.types.has('array') ? 'several, with commas between' : typeInWords(shape)
  const hint = [type, ...(isRequired ? [] : ['may be empty'])].filter(part => part !== '').join(', ')
  const usual = fallback === undefined ? '' : ` [${shownInLine(inWords(fallback))}]`
  for (;;) {
    const text = await lines.read(`  ${shownInLine(name)} (${hint})${usual}: `, signal)
    if (text === '' && fallback !== undefined) return fallback
    if (text === '' && !isRequired) return undefined
    try {
      return valueOf(text, shape)
    } catch (error) {
      lines.show(`  ${shown((error as Error).message)}`)
    }
  }
}

function valueOf (text: string, shape: Shape): unknown {
  const { types, items } = shape
  if (!types.has('array')) return toValue(types.has('boolean') ? TRUTHS[text.toLowerCase()] ?? text : text, shape, 'this')
  const parts = text.split(',').map(part => part.trim()).filter(part => part !== '')
  return parts.map(part => (items === undefined ? part : toValue(part, items, 'each')))
}

/** Yes, unless the user says no. */
async function confirm (question: string, lines: Lines, signal: AbortSignal): Promise<boolean> {
  for (;;) {
    const word = (await lines.read(question, signal)).trim().toLowerCase()
    if (['', 'y', 'yes'].includes(word)) return true
    if (['n', 'no'].includes(word)) return false
  }
}
