import type { FastifyInstance } from 'fastify'
import type { Channel } from '../../../protocol/wire/channel.js'
import { Peer } from '../../../protocol/peer/peer.js'
import { oldest } from '../../../protocol/revisions/table.js'
import type { Case } from '../case.js'
import { Conversation, handshake, PROBE } from '../conversation.js'
import { startsWithHandshake } from '../openings.js'
import { cancelled, expected, messagesIn } from '../expect.js'
import { censusOf, openGateway, type Plugin } from '../gateway.js'
import { excuse, faultsOfAnswer } from '../oracle.js'
import type { Outcome, Target } from '../target.js'
import { HANG, inTime, Wait } from '../waiting.js'

const PACE = 30

/**
 * The dispatcher in this process: one peer a case, one channel a message, so that it is known which answer is whose.
 */
export async function openDispatcher (plugins: Plugin[] = []): Promise<Target> {
  const app = await openGateway(plugins)
  return {
    run: async input => await new MemoryCase(app, input).run(),
    probe: async () => await inTime(pinged(app)) === true,
    census: async () => await censusOf(app),
    close: async () => await app.close()
  }
}

interface Answered { bytes: Buffer, texts: string[], ends: number }

class MemoryCase {
  readonly #app: FastifyInstance
  readonly #input: Case
  readonly #talk: Conversation
  readonly #peer: Peer
  readonly #steps: Answered[] = []
  /** A machine that is busy with other things makes a message take long, but does not make it cost much. */
  readonly #cpu = process.cpuUsage()
  #wait: Wait | undefined

  constructor (app: FastifyInstance, input: Case) {
    this.#app = app
    this.#input = input
    this.#talk = new Conversation(input)
    const standing = this.#channel({ bytes: Buffer.alloc(0), texts: [], ends: 0 })
    this.#peer =
      input.opening === 'message'
        ? new Peer({ revision: oldest })
        : new Peer({ transport: 'memory', channel: standing })
  }

  async run (): Promise<Outcome> {
    this.#app.mcp.dispatcher.lifecycle.connect(this.#peer)
    if (startsWithHandshake(this.#input.opening)) this.#performHandshake()
    for (const { bytes } of this.#input.steps) {
      this.#deliver(this.#talk.send(bytes))
      if (!this.#input.burst) await this.#settled(PACE)
    }
    await this.#settled()
    this.#app.mcp.dispatcher.lifecycle.disconnect(this.#peer, new Error('the case is over'))
    this.#judge()
    return { faults: this.#talk.faults, signatures: this.#talk.signatures() }
  }

  #performHandshake (): void {
    const { hello, thanks } = handshake(this.#input.opening)
    const ignore: Channel = { streams: true, respond: () => {}, emit: () => {}, end: () => {} }
    for (const text of [hello, thanks]) {
      this.#app.mcp.dispatcher.receive(this.#app.mcp.dispatcher.decode(text), this.#peer, ignore)
    }
  }

  #deliver (bytes: Buffer): void {
    const step = { bytes, texts: [], ends: 0 }
    this.#steps.push(step)
    const startedAt = performance.now()
    this.#app.mcp.dispatcher.receive(this.#app.mcp.dispatcher.decode(bytes), this.#peer, this.#channel(step))
    const { user, system } = performance.now() - startedAt > HANG ? process.cpuUsage(this.#cpu) : { user: 0, system: 0 }
    if (user + system > HANG * 1_000) {
      this.#talk.faults.push({ kind: 'hang', text: `${Math.round((user + system) / 1_000)} ms for one message` })
    }
  }

  #channel (step: Answered): Channel {
    const say = (text: string) => {
      for (const answer of this.#talk.receive(text)) {
        setImmediate(() => {
          if (!this.#peer.closed) this.#deliver(this.#talk.send(answer))
        })
      }
    }
    return {
      streams: this.#input.opening !== 'message',
      respond: text => { step.texts.push(text); say(text); this.#wait?.look() },
      emit: say,
      end: () => { step.ends++; this.#wait?.look() }
    }
  }

  async #settled (ms?: number): Promise<void> {
    this.#wait = new Wait(
      () => this.#steps.every(({ bytes, texts, ends }) => texts.length + ends > 0 || listens(bytes)),
      ms
    )
    await this.#wait.promise
    this.#wait = undefined
  }

  #judge (): void {
    const { faults, sent } = this.#talk
    const excused = cancelled(sent)
    for (const { bytes, texts, ends } of this.#steps) {
      if (texts.length + ends !== 1) {
        faults.push({
          kind: texts.length + ends === 0 ? 'unanswered' : 'unasked',
          text: `${texts.length} answers and ${ends} ends`
        })
      } else {
        // The size of messages is the business of transports.
        faults.push(
          ...faultsOfAnswer(
            texts.flatMap(text => messagesIn(Buffer.from(text))),
            expected(bytes, Infinity).map(tally => excuse(tally, excused))
          )
        )
      }
    }
    faults.push(...this.#talk.judge())
  }
}

// Part of a batch, it is refused at once.
const listens = (bytes: Buffer): boolean =>
  bytes.indexOf('[') !== 0 && messagesIn(bytes).some(({ method }) => method === 'subscriptions/listen')

async function pinged (app: FastifyInstance): Promise<boolean> {
  return await new Promise(resolve => {
    app.mcp.dispatcher.receive(app.mcp.dispatcher.decode(PROBE), new Peer(), {
      streams: false,
      respond: text => resolve(text.includes('"result"')),
      emit: () => {},
      end: () => resolve(false)
    })
  })
}
