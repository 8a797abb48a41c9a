import { isObject } from '../../../protocol/wire/json.js'
import type { Params } from '../../../protocol/wire/jsonrpc.js'
import type { Connection } from '../../ports.js'
import { ListenStream } from './listen-stream.js'

/**
 * The most URIs of one request, and the most characters of them: servers refuse larger requests, this gateway among
 * them.
 */
const MAX_URIS = 500
const MAX_TEXT = 32_768

const FLAGS = { tools: 'toolsListChanged', prompts: 'promptsListChanged', resources: 'resourcesListChanged' } as const

interface Group { readonly uris: Set<string>, readonly stream: ListenStream, text: number }

/**
 * The `subscriptions/listen` of a connection to a stateless upstream: one for its lists, and one for each group of
 * resources that clients watch. A change concerns one group, and a request that the upstream refuses concerns no other.
 */
export class ListenStreams {
  readonly #connection: Connection
  readonly #missed: (uri: string) => void
  readonly #lists: ListenStream
  readonly #groups = new Set<Group>()
  readonly #groupOf = new Map<string, Group>()

  /** `listsMissed` runs when list changes may have been missed, `missed` for each URI whose updates may have been. */
  constructor (connection: Connection, listsMissed: () => void, missed: (uri: string) => void) {
    this.#connection = connection
    this.#missed = missed
    this.#lists = new ListenStream(connection, listsMissed)
    this.#lists.want(wantedLists(connection))
  }

  add (uri: string): void {
    if (!canSubscribe(this.#connection) || this.#groupOf.has(uri)) return
    const group = this.#groupFor(uri)
    group.uris.add(uri)
    group.text += uri.length
    this.#groupOf.set(uri, group)
    listen(group)
  }

  remove (uri: string): void {
    const group = this.#groupOf.get(uri)
    if (group === undefined) return
    this.#groupOf.delete(uri)
    group.uris.delete(uri)
    group.text -= uri.length
    if (group.uris.size > 0) return listen(group)
    group.stream.close()
    this.#groups.delete(group)
  }

  close (): void {
    this.#lists.close()
    for (const { stream } of this.#groups) stream.close()
  }

  #groupFor (uri: string): Group {
    for (const group of this.#groups) {
      if (group.uris.size < MAX_URIS && group.text + uri.length <= MAX_TEXT) return group
    }
    const uris = new Set<string>()
    const stream = new ListenStream(this.#connection, () => { for (const missed of uris) this.#missed(missed) })
    const group = { uris, stream, text: 0 }
    this.#groups.add(group)
    return group
  }
}

const listen = ({ stream, uris }: Group): void => stream.want({ resourceSubscriptions: [...uris] })

export const canSubscribe = ({
  server: {
    capabilities: { resources }
  }
}: Connection): boolean => isObject(resources) && resources.subscribe === true

function wantedLists ({ server: { capabilities } }: Connection): Params {
  const wanted = Object.entries(FLAGS).filter(([name]) => {
    const capability = capabilities[name]
    return isObject(capability) && capability.listChanged === true
  })
  return Object.fromEntries(wanted.map(([, flag]) => [flag, true]))
}
