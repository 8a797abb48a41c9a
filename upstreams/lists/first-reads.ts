import { unlessAborted } from '../../lib/abort.js'
import type { Call } from '../../protocol/dispatch/call.js'
import { DEFAULT_SCOPES, grants } from '../../protocol/wire/identity.js'
import { explainTo, whyUnsigned } from '../reasons.js'
import type { ServerEntry } from '../server-entry.js'
import type { MayShow } from './gateway.js'
import type { Snapshot } from './snapshot.js'
import type { UpstreamLists } from './upstream-lists.js'

/** The requests whose answers have something of every upstream. */
const OF_ALL = new Set([
  'initialize',
  'server/discover',
  'tools/list',
  'prompts/list',
  'resources/list',
  'resources/templates/list',
  'skills/list'
])

interface FirstRead {
  /** Settles when lists are not to wait for this upstream any longer; undefined from then on. */
  awaited: Promise<void> | undefined
  readonly end: () => void
}

/**
 * The upstreams of which no list was ever read: lists wait for them, once and for a limited time, and are not complete
 * without them.
 */
export class FirstReads {
  readonly #wait: number
  readonly #mayShow: MayShow
  readonly #unread = new Map<UpstreamLists, FirstRead>()

  /** `wait` is how long lists wait for an upstream from now on, in milliseconds. */
  constructor (wait: number, mayShow: MayShow) {
    this.#wait = wait
    this.#mayShow = mayShow
  }

  get isEmpty (): boolean {
    return this.#unread.size === 0
  }

  /** Begins the wait for an upstream. */
  add (lists: UpstreamLists): void {
    let resolve = (): void => {}
    const promise = new Promise<void>(_resolve => { resolve = _resolve })
    const timer = setTimeout(() => first.end(), this.#wait).unref()
    const off = lists.upstream.onChange(() => { if (lists.upstream.isFailing) first.end() })
    const first: FirstRead = {
      awaited: promise,
      end: () => {
        first.awaited = undefined
        clearTimeout(timer)
        off()
        resolve()
      }
    }
    this.#unread.set(lists, first)
    // A list does not wait for a person.
    if (lists.upstream.entry.auth === 'caller') first.end()
  }

  /** The lists of an upstream were read, if that worked: they are not waited for any more. */
  end (lists: UpstreamLists): void {
    this.#unread.get(lists)?.end()
    if (lists.isKnown) this.#unread.delete(lists)
  }

  /** The upstream is not served any more. */
  remove (lists: UpstreamLists): void {
    this.#unread.get(lists)?.end()
    this.#unread.delete(lists)
  }

  /**
   * Settles when the request of a client has waited for the upstreams that its answer would lack; undefined when it
   * need not wait.
   */
  awaitedBy (call: Call): Promise<unknown> | undefined {
    return OF_ALL.has(call.method) ? this.all(call) : undefined
  }

  /** Settles when a request has waited for all upstreams of its view; undefined when it need not wait. */
  all (call: Call): Promise<unknown> | undefined {
    const awaited = [...this.#unread].flatMap(
      ([
        {
          upstream: { entry }
        },
        first
      ]) => (first.awaited !== undefined && isPartOf(call, entry, this.#mayShow) ? [first.awaited] : [])
    )
    return awaited.length === 0 ? undefined : unlessAborted(Promise.all(awaited), call.signal)
  }

  /** True when the caller would see more if all upstreams had been read. */
  concern (call: Call): boolean {
    for (const { upstream: { entry } } of this.#unread.keys()) if (isPartOf(call, entry, this.#mayShow)) return true
    return false
  }
}

/** True when the caller sees what this upstream lists. */
export const isPartOf = ({ peer: { view }, identity }: Call, entry: ServerEntry, mayShow: MayShow): boolean =>
  mayShow(view, entry) && grants(identity, entry.scopes ?? DEFAULT_SCOPES)

/** Settles when the lists of an upstream were read for a call. Rejects with what its caller may see. */
export async function readNamed (lists: UpstreamLists, call: Call): Promise<void> {
  const read = async (): Promise<void> => await lists.firstRead(call.signal, call)
  await read().catch(async (error: unknown) => {
    const why = whyUnsigned(error)
    // Without requests to clients, the question would have to be the result of a tool that is not known yet.
    if (why === undefined || call.revision.stateless) throw explainTo(call, error)
    const { askToSignIn } = await import('../relay/ask-to-sign-in.js')
    await askToSignIn(call, lists.upstream, why, async () => {
      await read()
      return {}
    })
  })
}

/** Resolves to what shows what is known of an upstream. */
export async function prepare (lists: UpstreamLists, known: Snapshot | undefined): Promise<() => void> {
  if (known !== undefined) return await lists.prepare(known)
  // Nothing is known of its lists, so that no call could ever start it.
  return () => { if (lists.upstream.entry.start === 'lazy') lists.upstream.shared().catch(() => {}) }
}
