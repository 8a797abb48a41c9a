import { spawn, type ChildProcessWithoutNullStreams } from 'node:child_process'
import { once } from 'node:events'
import { tmpdir } from 'node:os'
import { fileURLToPath } from 'node:url'
import { COMMAND } from '../../support/command.js'
import { readLines } from '../../support/connections.js'
import type { Case } from '../case.js'
import { Conversation, handshake, PROBE } from '../conversation.js'
import { OPTIONS } from '../gateway.js'
import { inPieces, linesOf } from '../pieces.js'
import type { Outcome, Target } from '../target.js'
import { inTime, Wait } from '../waiting.js'

const FIXTURE = fileURLToPath(new URL('../../support/gateway.js', import.meta.url))
const START = 30_000
const PACE = 30

/** The command itself as a child process that has one client for its whole life; cases follow each other. */
export async function openProcess (): Promise<Target> {
  const child = spawn(process.execPath, [COMMAND, '--stdio'], {
    cwd: tmpdir(),
    env: { PATH: process.env['PATH'], ...environment() }
  })
  const line = new Line(child)
  await line.performHandshake()
  return {
    run: async input => await line.run(input),
    probe: async () => await line.probe(),
    census: async () => ({ processes: child.exitCode === null && child.signalCode === null ? 1 : 0 }),
    close: async () => {
      child.stdin.end()
      const ended = child.exitCode !== null || await inTime(once(child, 'close').then(() => true), START) === true
      if (!ended) child.kill('SIGKILL')
      if (child.exitCode !== 0) throw new Error(`the process ended with ${child.exitCode ?? child.signalCode}`)
    }
  }
}

function environment (): Record<string, string> {
  const options = { ...OPTIONS, http: false, logLevel: 'silent', plugins: FIXTURE }
  return Object.fromEntries(
    Object.entries(options).map(([name, value]) => [
      `PATCHBAY_${name.replace(/[A-Z]/g, letter => `_${letter}`).toUpperCase()}`,
      typeof value === 'string' ? value : JSON.stringify(value)
    ])
  )
}

class Line {
  readonly #child: ChildProcessWithoutNullStreams
  #receive: (line: string) => void = () => {}
  #errors = ''

  constructor (child: ChildProcessWithoutNullStreams) {
    this.#child = child
    child.stdin.on('error', () => {})
    child.stderr.on('data', (chunk: Buffer) => { this.#errors = (this.#errors + String(chunk)).slice(-4_000) })
    readLines(child.stdout, line => this.#receive(line))
  }

  async performHandshake (): Promise<void> {
    const { hello, thanks } = handshake('2025-11-25')
    if (!await this.#answers(hello, '"hello"', START)) throw new Error(`the process does not answer: ${this.#errors}`)
    this.#child.stdin.write(`${thanks}\n`)
  }

  async probe (): Promise<boolean> {
    return await this.#answers(PROBE, '"probe"')
  }

  async run (input: Case): Promise<Outcome> {
    const talk = new Conversation(input)
    let wait: Wait | undefined
    const send = (bytes: Buffer) => {
      for (const line of linesOf(talk.filled(bytes))) talk.send(line)
      for (const piece of inPieces(Buffer.concat([talk.filled(bytes), Buffer.from('\n')]), input.cut)) {
        this.#child.stdin.write(piece)
      }
    }
    this.#receive = line => {
      for (const answer of talk.receive(line)) send(answer)
      wait?.look()
    }
    const complete = async (ms?: number) => {
      wait = new Wait(() => talk.complete, ms)
      await wait.promise
    }
    for (const { bytes } of input.steps) {
      send(bytes)
      if (!input.burst) await complete(PACE)
    }
    await complete()
    await this.#settle(talk)
    talk.faults.push(...talk.shortfall(), ...talk.judge())
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) {
      talk.faults.push({
        kind: 'died',
        text: `the process ended with ${this.#child.exitCode ?? this.#child.signalCode}: ${this.#errors}`
      })
    }
    return { faults: talk.faults, signatures: talk.signatures() }
  }

  async #answers (
    text: string,
    part: string,
    ms?: number,
    onOther: (line: string) => void = () => {}
  ): Promise<boolean> {
    let answered = false
    const wait = new Wait(() => answered, ms)
    this.#receive = line => {
      if (line.includes(part)) answered = true
      else onOther(line)
      wait.look()
    }
    this.#child.stdin.write(`${text}\n`)
    return await wait.promise
  }

  /** Cancels the requests that are not answered yet, so that nothing of this case comes during the next. */
  async #settle (talk: Conversation): Promise<void> {
    const open = talk.unsettled()
    if (open.length === 0) return
    for (const requestId of open) {
      this.#child.stdin.write(
        `${JSON.stringify({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId } })}\n`
      )
    }
    await this.#answers(PROBE, '"probe"', undefined, line => { talk.receive(line) })
  }
}
