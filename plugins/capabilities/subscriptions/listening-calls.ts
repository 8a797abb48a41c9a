import type { Call } from '../../../protocol/dispatch/call.js'
import type { Identity } from '../../../protocol/wire/identity.js'
import { META } from '../../../protocol/wire/meta.js'

/** Decides whether a caller may be notified, whose client is connected to a view. */
export type MayKnow = (principal: string | undefined, identity: Identity, view: string | undefined) => boolean

/** Decides by its identity and its view whether a client is notified. */
export type Audience = (identity: Identity, view: string | undefined) => boolean

/** The calls of `subscriptions/listen` that are open, and the notifications each of them asked for. */
export class ListeningCalls {
  readonly #calls = new Map<Call, { methods: Set<string>, uris: Set<string> }>()

  add (call: Call, methods: Iterable<string>, uris: Iterable<string>): void {
    this.#calls.set(call, { methods: new Set(methods), uris: new Set(uris) })
  }

  delete (call: Call): void {
    this.#calls.delete(call)
  }

  /** Notifies the calls that asked for a list. */
  listChanged (method: string, audience: Audience): void {
    for (const [call, { methods }] of this.#calls) {
      if (methods.has(method) && audience(call.identity, call.peer.view)) notify(call, method, {})
    }
  }

  /** Notifies the calls that asked for a resource. */
  notifyUpdate (uri: string, audience: Audience): void {
    for (const [call, { uris }] of this.#calls) {
      if (uris.has(uri) && audience(call.identity, call.peer.view)) {
        notify(call, 'notifications/resources/updated', { uri })
      }
    }
  }
}

/** Sends a notification that names the subscription it belongs to. */
export function notify (call: Call, method: string, params: object): void {
  call.notify(method, { _meta: { [META.subscription]: call.id }, ...params })
}
