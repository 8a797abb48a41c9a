import { setTimeout as sleep } from 'node:timers/promises'
import { now, withTimeout } from '../../lib/time.js'
import type { AppendOptions, Appended, LoggedEvent, NumberedEvent, Replay, StreamNews } from '../../protocol/store.js'
import type { RedisConnection } from './connection.js'
import type { Keys } from './keys.js'
import { MAX_PUBLISHED, type RedisNodes } from './nodes.js'
import {
  APPEND,
  ATTACH,
  END_STREAM,
  FINISH,
  IS_READER,
  MARK_SEEN,
  OPEN,
  READ_EVENTS,
  UNFINISHED
} from './scripts/streams.js'
import type { Script } from './scripts/script.js'
import { OrderedWrites } from './ordered-writes.js'

/**
 * For how long a write is sent again, in milliseconds; and after which time a client that is connected here gets an
 * event that is not stored yet.
 */
const RETRY_FOR = 10_000
const LATE = 400
/** For how long a read is sent again while Redis cannot be reached, and how often. */
const READ_FOR = 500
const RETRY_EVERY = 20

/** The events of streams. Every write is one script, which also tells the node that reads the stream. */
export class RedisStreams {
  readonly #redis: RedisConnection
  readonly #keys: Keys
  readonly #nodes: RedisNodes
  readonly #writes: OrderedWrites

  constructor (redis: RedisConnection, keys: Keys, nodes: RedisNodes) {
    this.#redis = redis
    this.#keys = keys
    this.#nodes = nodes
    this.#writes = new OrderedWrites(() => redis.link.isReady)
  }

  async open (id: string, stream: string, interruptedResponse: string): Promise<void> {
    await this.#write(OPEN, id, stream, interruptedResponse)
  }

  async append (
    id: string,
    stream: string,
    { text, method }: LoggedEvent,
    seen: boolean,
    { last = 0, begins = '', ends = false, onLate }: AppendOptions
  ): Promise<Appended> {
    const appended = this.#write(
      APPEND,
      id,
      stream,
      method,
      text,
      String(text.length),
      seen ? '1' : '',
      String(last),
      String(MAX_PUBLISHED),
      begins,
      ends ? '1' : ''
    ).then(appendedOf)
    if (!seen || onLate === undefined) return await appended
    return await withTimeout(appended, LATE, () => {
      appended.then(onLate, () => onLate(undefined))
      return 'late' as const
    })
  }

  async markSeen (id: string, stream: string, number: number): Promise<void> {
    await this.#run(MARK_SEEN, id, stream, String(number))
  }

  async end (id: string, stream: string): Promise<void> {
    await this.#write(END_STREAM, id, stream)
  }

  async finish (id: string): Promise<string[]> {
    const found = await this.#read(UNFINISHED, id, '') as string[]
    const pairs = Array.from(
      { length: found.length / 2 },
      (_, index) => [found[index * 2] ?? '', found[index * 2 + 1] ?? ''] as const
    )
    const writers = [...new Set(pairs.map(([, writer]) => writer))]
    const living = new Set<string>()
    for (const writer of writers) if (await this.#nodes.isAlive(writer)) living.add(writer)
    for (const [stream, writer] of pairs) if (!living.has(writer)) await this.#run(FINISH, id, stream, writer)
    return [...living]
  }

  async read (id: string, stream: string, after: number | undefined): Promise<Replay | undefined> {
    return replayOf(await this.#read(READ_EVENTS, id, stream, after === undefined ? '' : String(after)))
  }

  async attach (id: string, stream: string, after: number | undefined): Promise<Replay | undefined> {
    const [previous, found] = ((await this.#read(ATTACH, id, stream, after === undefined ? '' : String(after))) as
      [string, unknown] | null) ?? ['', undefined]
    const replay = replayOf(found)
    return replay === undefined || previous === '' || previous === this.#nodes.self ? replay : { ...replay, previous }
  }

  async isReader (id: string, stream: string): Promise<boolean> {
    return await this.#read(IS_READER, id, stream) === 1
  }

  onNews (listener: (id: string, stream: string, news: StreamNews) => void): () => void {
    return this.#nodes.onNotice(([kind, stream = '', ...id], body) => {
      if (kind === 'stream') listener(id.join(' '), stream, newsOf(body))
    })
  }

  async #write (script: Script, id: string, stream: string, ...args: string[]): Promise<unknown> {
    const size = args.reduce((sum, { length }) => sum + length, 0)
    return await this.#writes.write(
      `${id} ${stream}`,
      async (number, previous) =>
        await this.#redis.runUntimed(
          script,
          this.#keys.session(id),
          this.#arguments(id, stream, number, previous, ...args)
        ),
      size,
      RETRY_FOR
    )
  }

  async #read (script: Script, id: string, stream: string, ...args: string[]): Promise<unknown> {
    for (const until = now() + READ_FOR; ;) {
      try {
        return await this.#run(script, id, stream, ...args)
      } catch (error) {
        if (this.#redis.link.isReady || now() > until) throw error
        await sleep(RETRY_EVERY, undefined, { ref: false })
      }
    }
  }

  async #run (script: Script, id: string, stream: string, ...args: string[]): Promise<unknown> {
    return await this.#redis.run(script, this.#keys.session(id), this.#arguments(id, stream, ...args))
  }

  #arguments (id: string, stream: string, ...args: string[]): string[] {
    return [this.#nodes.self, stream, this.#keys.channel(''), id, ...args]
  }
}

function appendedOf (reply: unknown): Appended {
  if (reply === 'elsewhere' || reply === 'ended') return reply
  if (!Array.isArray(reply)) return undefined
  const [number, after] = reply.map(Number) as [number, number]
  return { number, after }
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
  const [number, after, , , ...method] = stored.slice(0, end).split(' ')
  return { number: Number(number), after: Number(after), method: method.join(' '), text: stored.slice(end + 1) }
}

function newsOf (body: string): StreamNews {
  if (body === 'more' || body === 'moved') return body
  const end = body.indexOf('\n')
  const [number, after, ...method] = body.slice(0, end).split(' ')
  const news = { number: Number(number), after: Number(after), method: method.join(' '), text: body.slice(end + 1) }
  // News of another form is looked up in the store.
  return Number.isSafeInteger(news.number) && Number.isSafeInteger(news.after) ? news : 'more'
}
