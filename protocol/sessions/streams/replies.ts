import { randomToken } from '../../../lib/random-token.js'
import type { SessionStore } from '../../store.js'
import type { ResumableStream } from './resumable-stream.js'
import { orUndefined } from './stored-log.js'
import type { StreamOptions } from './stream-options.js'

export interface RepliesOptions {
  session: string
  store: SessionStore
  /** Makes the object for a stream. */
  create: (key: string, options: Omit<StreamOptions, 'primed'>) => ResumableStream
  onTrouble: (error: unknown) => void
}

/** The replies of a session that are written or read here. */
export class Replies {
  readonly #options: RepliesOptions
  readonly #streams = new Map<string, ResumableStream>()
  /** Streams among them that other nodes write. */
  readonly #foreign = new Set<ResumableStream>()
  /** The other nodes that wrote replies of the session when that was last read. */
  #writers: string[] = []

  constructor (options: RepliesOptions) {
    this.#options = options
  }

  get all (): Iterable<ResumableStream> {
    return this.#streams.values()
  }

  /** The nodes whose death has to be noticed, because clients read their replies here. */
  get writers (): readonly string[] {
    return this.#foreign.size === 0 ? [] : this.#writers
  }

  get (key: string): ResumableStream | undefined {
    return this.#streams.get(key)
  }

  /**
   * A new reply. `interruptedResponse` is the response its client gets when this process dies before it has answered.
   */
  open (interruptedResponse: string): ResumableStream {
    return this.#add(randomToken(6, 'hex'), { interruptedResponse })
  }

  /** A reply that another node writes, or wrote. */
  addForeign (key: string): ResumableStream {
    const stream = this.#add(key, { foreign: true })
    this.#foreign.add(stream)
    return stream
  }

  /** Ends the replies that nodes which have died left unfinished, each with its interrupted response. */
  async finish (): Promise<void> {
    const { session, store, onTrouble } = this.#options
    this.#writers = await orUndefined(store.finish(session), onTrouble) ?? this.#writers
  }

  /** Sends clients the last events of replies whose writers have died. */
  async finishForeign (): Promise<void> {
    await this.finish()
    for (const stream of this.#foreign) stream.receive('more')
  }

  #add (key: string, options: Pick<StreamOptions, 'interruptedResponse' | 'foreign'>): ResumableStream {
    const onClosed = (): void => {
      this.#streams.delete(key)
      this.#foreign.delete(stream)
    }
    const stream: ResumableStream = this.#options.create(key, { ...options, onClosed })
    this.#streams.set(key, stream)
    return stream
  }
}
