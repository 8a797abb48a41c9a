import type {
  AppendOptions,
  Appended,
  LoggedEvent,
  Replay,
  SessionChange,
  SessionRecord,
  SessionStore,
  StoredSession,
  StreamNews
} from '../../protocol/store.js'
import type { RedisConnection } from './connection.js'
import type { Keys } from './keys.js'
import type { RedisNodes } from './nodes.js'
import { RedisPrincipals } from './principals.js'
import { MOVE_HOME, REMOVE, SAVE, TOUCH, UPDATE } from './scripts/sessions.js'
import { RedisStreams } from './streams.js'

/** How many sessions are extended at once. */
const TOUCH_BATCH = 100

export class RedisSessions implements SessionStore {
  readonly #redis: RedisConnection
  readonly #keys: Keys
  readonly #nodes: RedisNodes
  readonly #streams: RedisStreams
  readonly #principals: RedisPrincipals

  constructor (redis: RedisConnection, keys: Keys, nodes: RedisNodes) {
    this.#redis = redis
    this.#keys = keys
    this.#nodes = nodes
    this.#streams = new RedisStreams(redis, keys, nodes)
    this.#principals = new RedisPrincipals(redis, keys)
  }

  // Both are sent at once. A session that was refused is removed again, before its client has got its id.
  async save (id: string, record: SessionRecord, expires: number, max = Infinity): Promise<boolean> {
    const { principal } = record
    const counted = principal === undefined ? true : this.#principals.add(principal, id, expires, max)
    const [isCounted] = await Promise.all([counted, this.#save(id, record, expires)])
    if (!isCounted) await this.remove(id)
    return isCounted
  }

  async load (id: string): Promise<StoredSession | undefined> {
    const fields = await this.#redis.command('HGETALL', this.#keys.session(id)[0] ?? '') as Record<string, string>
    return fields['home'] === undefined ? undefined : { record: recordOf(fields), home: fields['home'] }
  }

  async update (id: string, { agreement = {}, subscriptions }: SessionChange, expires: number): Promise<boolean> {
    const of = (wanted: boolean): string[] =>
      [...subscriptions].flatMap(([uri, is]) => (is === wanted ? [subscriptionField(uri)] : []))
    const removed = [
      ...of(false),
      ...Object.entries(agreement).flatMap(([name, value]) => (value === undefined ? [`a:${name}`] : []))
    ]
    const added = [...agreementFields(agreement), ...of(true).flatMap(field => [field, '1'])]
    return (
      (await this.#redis.run(UPDATE, this.#keys.session(id), [
        String(expires),
        this.#keys.all,
        this.#notice(id),
        String(removed.length),
        ...removed,
        ...added
      ])) === 1
    )
  }

  async moveHome (id: string, previous: string | undefined): Promise<boolean> {
    return await this.#redis.run(MOVE_HOME, this.#keys.session(id), [previous ?? '', this.#nodes.self]) === 1
  }

  /** Nothing: which sessions a node left is not written down. Each is taken over at its next request. */
  async takeOver (): Promise<string[]> {
    return []
  }

  async touch (ids: string[], expires: number): Promise<void> {
    for (let next = 0; next < ids.length; next += TOUCH_BATCH) {
      const batch = ids.slice(next, next + TOUCH_BATCH)
      const principals = await Promise.all(
        batch.map(async id => principalIn(await this.#redis.run(TOUCH, this.#keys.session(id), [String(expires)])))
      )
      const byPrincipal = new Map<string, string[]>()
      for (const [index, principal] of principals.entries()) {
        if (principal !== undefined) {
          byPrincipal.set(principal, [...(byPrincipal.get(principal) ?? []), batch[index] ?? ''])
        }
      }
      await this.#principals.touch(byPrincipal, expires)
    }
  }

  async remove (id: string): Promise<void> {
    await this.#remove(id, '')
  }

  async removeUnused (id: string, expires: number): Promise<void> {
    await this.#remove(id, String(expires))
  }

  /** Redis does it. */
  async sweep (): Promise<void> {}

  onChange (listener: (id?: string) => void): () => void {
    const offNotice = this.#nodes.onNotice(([kind, from], id) => {
      if (kind === 'session' && from !== this.#nodes.self) listener(id)
    })
    const offGap = this.#nodes.onGap(() => listener())
    return () => {
      offNotice()
      offGap()
    }
  }

  async open (id: string, stream: string, interruptedResponse: string): Promise<void> {
    await this.#streams.open(id, stream, interruptedResponse)
  }

  async append (
    id: string,
    stream: string,
    event: LoggedEvent,
    seen: boolean,
    options: AppendOptions = {}
  ): Promise<Appended> {
    return await this.#streams.append(id, stream, event, seen, options)
  }

  async markSeen (id: string, stream: string, number: number): Promise<void> {
    await this.#streams.markSeen(id, stream, number)
  }

  async end (id: string, stream: string): Promise<void> {
    await this.#streams.end(id, stream)
  }

  async finish (id: string): Promise<string[]> {
    return await this.#streams.finish(id)
  }

  async read (id: string, stream: string, after: number | undefined): Promise<Replay | undefined> {
    return await this.#streams.read(id, stream, after)
  }

  async attach (id: string, stream: string, after: number | undefined): Promise<Replay | undefined> {
    return await this.#streams.attach(id, stream, after)
  }

  async isReader (id: string, stream: string): Promise<boolean> {
    return await this.#streams.isReader(id, stream)
  }

  onNews (listener: (id: string, stream: string, news: StreamNews) => void): () => void {
    return this.#streams.onNews(listener)
  }

  async #save (id: string, record: SessionRecord, expires: number): Promise<void> {
    const { subscriptions, ...agreement } = record
    await this.#redis.run(SAVE, this.#keys.session(id), [
      String(expires),
      'home',
      this.#nodes.self,
      ...agreementFields(agreement),
      ...subscriptions.flatMap(uri => [subscriptionField(uri), '1'])
    ])
  }

  async #remove (id: string, latest: string): Promise<void> {
    const principal = principalIn(
      await this.#redis.run(REMOVE, this.#keys.session(id), [this.#keys.all, this.#notice(id), latest])
    )
    if (principal !== undefined) await this.#principals.remove(principal, id)
  }

  #notice (id: string): string {
    return `session ${this.#nodes.self}\n${id}`
  }
}

const principalIn = (reply: unknown): string | undefined =>
  typeof reply === 'string' ? (JSON.parse(reply) as string) : undefined

const subscriptionField = (uri: string): string => `u:${JSON.stringify(uri)}`

function agreementFields (agreement: object): string[] {
  return Object.entries(agreement).flatMap(([name, value]) =>
    value === undefined ? [] : [`a:${name}`, JSON.stringify(value)]
  )
}

function recordOf (fields: Record<string, string>): SessionRecord {
  const names = Object.keys(fields)
  const agreement = Object.fromEntries(
    names
      .filter(name => name.startsWith('a:'))
      .map(name => [name.slice(2), JSON.parse(fields[name] ?? 'null') as unknown])
  )
  return {
    ...agreement,
    subscriptions: names.filter(name => name.startsWith('u:')).map(name => JSON.parse(name.slice(2)) as string)
  } as unknown as SessionRecord
}
