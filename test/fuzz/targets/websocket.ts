import type { AddressInfo, Socket } from 'node:net'
import { isUtf8 } from 'node:buffer'
import { closeCode, frame, FrameReader, OPCODE, upgradeHead } from '../../support/websocket-client.js'
import { request } from '../../support/http-client.js'
import type { Case } from '../case.js'
import { Conversation, handshake, PROBE } from '../conversation.js'
import { startsWithHandshake, MODERN, REVISIONS } from '../openings.js'
import { MAX_MESSAGE } from '../expect.js'
import { censusOf, openGateway, type Plugin } from '../gateway.js'
import { inPieces } from '../pieces.js'
import { connected, hangUp } from '../sockets.js'
import type { Outcome, Target } from '../target.js'
import { Wait } from '../waiting.js'

const PACE = 30
const VERSIONS = [...REVISIONS, MODERN]

/** WebSocket over real sockets, without a library on this side. */
export async function openWebSocket (plugins: Plugin[] = []): Promise<Target> {
  const app = await openGateway(plugins)
  await app.listen({ port: 0, host: '127.0.0.1' })
  const { port } = app.server.address() as AddressInfo
  const run = async (input: Case) => await new SocketCase(await connected(port), input).run()
  return {
    run,
    probe: async () =>
      (
        await run({
          target: 'websocket',
          opening: 'none',
          steps: [{ bytes: Buffer.from(PROBE) }],
          answers: [],
          burst: true,
          cut: 0
        })
      ).faults.length === 0,
    census: async () => await censusOf(app),
    close: async () => await app.close()
  }
}

class SocketCase {
  readonly #input: Case
  readonly #talk: Conversation
  readonly #socket: Socket
  readonly #reader = new FrameReader((opcode, payload) => this.#frame(opcode, payload))
  #answered = false
  #initialized: boolean
  #closed: number | undefined
  #gone = false
  #wait: Wait | undefined

  constructor (socket: Socket, input: Case) {
    this.#input = input
    this.#talk = new Conversation(input)
    this.#initialized = !startsWithHandshake(input.opening)
    this.#socket = socket
    this.#socket.on('data', chunk => this.#read(chunk))
    this.#socket.once('close', () => { this.#gone = true; this.#wait?.look() })
    this.#socket.write(request('GET', '/mcp', upgradeHead(socket.remotePort as number)))
  }

  async run (): Promise<Outcome> {
    const raw = this.#input.steps.some(step => step.raw === true)
    await this.#until(() => this.#answered)
    if (startsWithHandshake(this.#input.opening)) {
      for (const text of Object.values(handshake(this.#input.opening))) {
        this.#socket.write(frame({ opcode: OPCODE.text, payload: text }))
      }
    }
    for (const step of this.#input.steps) {
      if (step.raw === true) this.#write(this.#talk.filled(step.bytes))
      else this.#send(step.bytes)
      if (!this.#input.burst) await this.#until(() => this.#talk.complete, PACE)
    }
    if (raw) await this.#leave()
    else await this.#until(() => this.#talk.complete)
    this.#judge(raw)
    if (!this.#gone) {
      hangUp(this.#socket)
      await this.#until(() => this.#gone)
    }
    const end = this.#closed === undefined ? [] : [`close ${this.#closed}`]
    // What was still answered before a connection broke off is a matter of chance.
    return {
      faults: this.#talk.faults,
      signatures: raw ? end.map(word => `${this.#input.opening} ${word}`) : this.#talk.signatures(end)
    }
  }

  /** Such frames have no defined meaning, but after a close frame and the end of the input the server has to close. */
  async #leave (): Promise<void> {
    this.#socket.end(frame({ opcode: OPCODE.close, payload: Buffer.from([3, 232]) }))
    await this.#until(() => this.#gone, 3_000)
    if (!this.#gone) this.#talk.faults.push({ kind: 'hang', text: 'the socket is not let go' })
  }

  #judge (raw: boolean): void {
    const { faults, sent } = this.#talk
    const over = this.#closed !== undefined || this.#gone
    if (this.#closed !== undefined && !(raw ? isCode(this.#closed) : this.#mayClose(this.#closed))) {
      faults.push({ kind: 'closed', text: `closed with ${this.#closed}` })
    }
    // Who is cut off in the middle of a message may not get to read why.
    if (!raw && this.#closed === undefined && this.#gone && !this.#mayClose(1007) && !this.#mayClose(1009)) {
      faults.push({ kind: 'closed', text: 'closed without a word' })
    }
    // What was on its way when the connection ended is lost; frames by hand may hold any message.
    const wrong = this.#talk.shortfall().filter(({ kind }) => raw ? false : kind === 'unasked' || !over)
    faults.push(...wrong)
    // Frames by hand may hold any message, in any revision, and the tool that is there to fail.
    faults.push(...raw ? this.#talk.judge(VERSIONS, []).filter(({ kind }) => kind !== 'internal') : this.#talk.judge())
    if (sent.length === 0 && !raw) faults.push({ kind: 'invalid', text: 'nothing was sent' })
  }

  #mayClose (code: number): boolean {
    if (code === 1007) return this.#talk.sent.some(bytes => !isUtf8(bytes))
    return code === 1009 && this.#talk.sent.some(bytes => bytes.length > MAX_MESSAGE)
  }

  #send (bytes: Buffer): void {
    this.#write(frame({ opcode: OPCODE.text, payload: this.#talk.send(bytes) }))
  }

  #write (bytes: Buffer): void {
    for (const piece of inPieces(bytes, this.#input.cut)) if (this.#socket.writable) this.#socket.write(piece)
  }

  async #until (holds: () => boolean, ms?: number): Promise<void> {
    this.#wait = new Wait(() => holds() || this.#gone, ms)
    await this.#wait.promise
  }

  #read (chunk: Buffer): void {
    this.#reader.push(chunk)
    if (!this.#answered && this.#reader.head !== '') {
      this.#answered = true
      if (!this.#reader.upgraded) this.#talk.faults.push({ kind: 'status', text: 'no upgrade' })
    }
    this.#wait?.look()
  }

  #frame (opcode: number, payload: Buffer): void {
    if (opcode === OPCODE.text) this.#receive(payload.toString())
    if (opcode === OPCODE.close) this.#end(closeCode(payload))
    if (opcode === OPCODE.ping) this.#write(frame({ opcode: OPCODE.pong, payload }))
  }

  #receive (text: string): void {
    if (!this.#initialized) {
      this.#initialized = true
      return
    }
    for (const answer of this.#talk.receive(text)) this.#send(answer)
  }

  // Like any client: a close frame is answered, and then the connection ends.
  #end (code: number): void {
    this.#closed = code
    this.#socket.end(
      frame({ opcode: OPCODE.close, payload: code === 1005 ? '' : Buffer.from([code >> 8, code & 255]) })
    )
  }
}

// A code of the client comes back to it, so with frames by hand any that may be on the wire is right.
const isCode = (code: number): boolean =>
  (code >= 1000 && code <= 1014 && code !== 1004 && code !== 1006) || (code >= 3000 && code <= 4999)
