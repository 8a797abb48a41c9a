import { createAbortController } from '../../lib/abort.js'
import { version } from '../../version.js'
import type { Client } from '../../upstreams/client/client.js'
import { expectSignals } from '../process/signals.js'
import { EXIT, explain, NoAnswer } from './failure.js'
import type { Invocation } from './invocation.js'
import { Notes } from './notes.js'
import { Questions } from './questions.js'
import { shownInLine, shownJson } from './terminal.js'

/** A command while it asks a server. */
export interface Asking {
  readonly client: Client
  /** Aborts after Ctrl-C, and when the time is up. */
  readonly signal: AbortSignal
  readonly notes: Notes
  /** True where people read the output: on a terminal, unless JSON is wanted. */
  readonly isForPeople: boolean
  /** How the output is printed: as JSON in a pipe, unless the command line says otherwise. */
  readonly format: 'json' | 'text'
  /** The width of the terminal; endless elsewhere. */
  readonly columns: number
  /** Writes to standard output, with what a terminal would obey escaped as in JSON; settles when it was taken. */
  print (text: string | Uint8Array): Promise<void>
}

/** How long the end of the connection is waited for, in milliseconds. */
const CLOSE_WITHIN = 5_000
/** The width of a terminal that does not tell its own. */
const COLUMNS = 80

/**
 * Connects to the server that the command line names, works with it, and ends the process with the code that the work
 * gives, with that of its failure, or with 128 plus the number of a signal: then the request in flight is cancelled.
 */
export async function ask (invocation: Invocation, work: (asking: Asking) => Promise<number>): Promise<void> {
  const ending = createAbortController()
  const notes = new Notes(process.stderr)
  let exitCode: number | undefined
  expectSignals()
  process.on('uncaughtException', error => {
    exitCode ??= EXIT.failed
    ending.abort(error)
  })
  for (const [signal, code] of [['SIGINT', 130], ['SIGTERM', 143]] as const) {
    process.on(signal, () => {
      exitCode ??= code
      ending.abort(new Error(`the command got ${signal}`))
    })
  }
  // A reader such as `head` that has enough.
  process.stdout.on('error', () => process.exit(exitCode ?? EXIT.done))
  const { timeout } = invocation
  const timer = timeout === undefined
    ? undefined
    : setTimeout(() => ending.abort(new NoAnswer(`no answer within ${timeout / 1_000} s, and the request was cancelled`)), timeout)
  // Timers and sockets of the client keep no process alive.
  const alive = setInterval(() => {}, 60_000)
  const questions = new Questions(notes, process, () => process.emit('SIGINT'))
  let client: Client | undefined
  let code: number
  try {
    client = await connect(invocation, notes, questions, ending.signal)
    code = await work({ client, signal: ending.signal, notes, print, ...outputOf(invocation) })
    notes.clear()
  } catch (error) {
    notes.clear()
    const failure = explain(ending.signal.aborted ? ending.signal.reason : error, invocation, client?.lastLines())
    code = exitCode ?? failure.code
    if (exitCode === undefined || exitCode < 128) for (const line of failure.lines) notes.say(`patchbay: ${line}`)
  }
  clearTimeout(timer)
  questions.close()
  await Promise.race([client?.close(), new Promise(resolve => setTimeout(resolve, CLOSE_WITHIN))])
  clearInterval(alive)
  process.exit(exitCode ?? code)
}

async function connect (
  { address, revision, limits, logLevel }: Invocation,
  notes: Notes,
  questions: Questions,
  signal: AbortSignal
): Promise<Client> {
  const { openClient } = await import('../../upstreams/client/open-client.js')
  return await openClient({
    address,
    revision,
    clientInfo: { name: 'patchbay-cli', version },
    limits,
    logLevel,
    events: {
      progress: params => notes.progress(params),
      log: params => notes.log(params),
      elicit: async (params, inner) => await questions.elicit(params, inner),
      warn: sentence => notes.say(`patchbay: warning: ${shownInLine(sentence)}`)
    }
  }, signal)
}

function outputOf ({ format }: Invocation): Pick<Asking, 'format' | 'isForPeople' | 'columns'> {
  const { isTTY, columns = COLUMNS } = process.stdout
  const chosen = format ?? (isTTY ? 'text' : 'json')
  return { format: chosen, isForPeople: isTTY && chosen === 'text', columns: isTTY ? columns : Infinity }
}

async function print (text: string | Uint8Array): Promise<void> {
  const safe = typeof text === 'string' && process.stdout.isTTY ? shownJson(text) : text
  await new Promise<void>(resolve => process.stdout.write(safe, () => resolve()))
}
