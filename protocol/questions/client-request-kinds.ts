import type { ClientRequestKind } from './client-request.js'

/** The kinds of requests that handlers may send to the client, by method. */
export class ClientRequestKinds {
  readonly #all = new Map<string, ClientRequestKind>()

  add (method: string, kind: ClientRequestKind): void {
    this.#all.set(method, kind)
  }

  get (method: string): ClientRequestKind {
    const kind = this.#all.get(method)
    if (kind === undefined) throw new Error(`no plugin has registered the client request ${method}`)
    return kind
  }
}
