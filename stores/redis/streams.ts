import type { AppendOptions, Appended, LoggedEvent, NumberedEvent, Replay, StreamNews } from '../../protocol/store.js'
import type { RedisConnection } from './connection.js'
import type { Keys } from './keys.js'
import { MAX_PUBLISHED, type RedisNodes } from './nodes.js'
import { APPEND, ATTACH, END_STREAM, FINISH, IS_READER, MARK_SEEN, OPEN, READ_EVENTS, UNFINISHED } from './scripts/streams.js'
import type { Script } from './scripts/script.js'

/** The events of streams. Every write is one script, which also tells the node that reads the stream. */
export class RedisStreams {
  readonly #redis: RedisConnection
  readonly #keys: Keys
  readonly #nodes: RedisNodes

  constructor (redis: RedisConnection, keys: Keys, nodes: RedisNodes) {
    this.#redis = redis
    this.#keys = keys
    this.#nodes = nodes
  }

  async open (id: string, stream: string, interruptedResponse: string): Promise<void> {
    await this.#run(OPEN, id, stream, interruptedResponse)
  }

  async append (id: string, stream: string, { text, method }: LoggedEvent, seen: boolean, { last = 0, begins = '', ends = false }: AppendOptions): Promise<Appended> {
    const reply = await this.#run(APPEND, id, stream, method, text, String(text.length), seen ? '1' : '', String(last), String(MAX_PUBLISHED), begins, ends ? '1' : '')
    if (reply === 'elsewhere') return 'elsewhere'
    if (!Array.isArray(reply)) return undefined
    const [number, after] = reply.map(Number) as [number, number]
    return { number, after }
  }

  async markSeen (id: string, stream: string, number: number): Promise<void> {
    await this.#run(MARK_SEEN, id, stream, String(number))
  }

  async end (id: string, stream: string): Promise<void> {
    await this.#run(END_STREAM, id, stream)
  }

  async finish (id: string): Promise<void> {
    const found = await this.#run(UNFINISHED, id, '') as string[]
    const pairs = Array.from({ length: found.length / 2 }, (_, index) => [found[index * 2] ?? '', found[index * 2 + 1] ?? ''] as const)
    for (const writer of new Set(pairs.map(([, writer]) => writer))) {
      if (await this.#nodes.isAlive(writer)) continue
      for (const [stream, its] of pairs) if (its === writer) await this.#run(FINISH, id, stream, writer)
    }
  }

  async read (id: string, stream: string, after: number | undefined): Promise<Replay | undefined> {
    return replayOf(await this.#run(READ_EVENTS, id, stream, after === undefined ? '' : String(after)))
  }

  async attach (id: string, stream: string, after: number | undefined): Promise<Replay | undefined> {
    const [previous, found] = await this.#run(ATTACH, id, stream, after === undefined ? '' : String(after)) as [string, unknown] | null ?? ['', undefined]
    const replay = replayOf(found)
    return replay === undefined || previous === '' || previous === this.#nodes.self ? replay : { ...replay, previous }
  }

  async isReader (id: string, stream: string): Promise<boolean> {
    return await this.#run(IS_READER, id, stream) === 1
  }

  onNews (listener: (id: string, stream: string, news: StreamNews) => void): () => void {
    return this.#nodes.onNotice(([kind, stream = '', ...id], body) => { if (kind === 'stream') listener(id.join(' '), stream, newsOf(body)) })
  }

  async #run (script: Script, id: string, stream: string, ...args: string[]): Promise<unknown> {
    return await this.#redis.run(script, this.#keys.session(id), [this.#nodes.self, stream, this.#keys.channel(''), id, ...args])
  }
}

/** Undefined when events are missing in between: Redis has lost them. */
function replayOf (reply: unknown): Replay | undefined {
  if (!Array.isArray(reply)) return undefined
  const [ended, after, ...texts] = reply as string[]
  const events = texts.map(parseEvent)
  if (!events.every((event, index) => event.after === (events[index - 1]?.number ?? Number(after)))) return undefined
  return { after: Number(after), events, ended: ended === '1' }
}

function parseEvent (stored: string): NumberedEvent {
  const end = stored.indexOf('\n')
  const [number, after, , ...method] = stored.slice(0, end).split(' ')
  return { number: Number(number), after: Number(after), method: method.join(' '), text: stored.slice(end + 1) }
}

function newsOf (body: string): StreamNews {
  if (body === 'more' || body === 'moved') return body
  const end = body.indexOf('\n')
  const [number, after, ...method] = body.slice(0, end).split(' ')
  const news = { number: Number(number), after: Number(after), method: method.join(' '), text: body.slice(end + 1) }
  // What is none of ours is looked up in the store.
  return Number.isSafeInteger(news.number) && Number.isSafeInteger(news.after) ? news : 'more'
}
