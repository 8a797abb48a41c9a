import type { Revision } from '../revisions/revision.js'

/** One kind of request a server may put to its client; plugins register them by method. */
export interface ClientRequestKind {
  /** The client capability this question needs, as the client would declare it. */
  needs (params: Record<string, unknown>): Record<string, object>
  /** False where the revision has no such question, whatever the client declares. */
  known (params: Record<string, unknown>, revision: Revision): boolean
  /** The params as the revision can say them. */
  params (params: Record<string, unknown>, revision: Revision): Record<string, unknown> | undefined
  /** Checks the client's answer and gives it back in the author's terms. Throws invalid params. */
  answer (answer: unknown, params: Record<string, unknown>, revision: Revision): unknown
}

/** A question to the client, as data: `call.ask({ user_name: { method: 'elicitation/create', params } })`. */
export interface ClientRequest { method: string, params: Record<string, unknown> }

/** Thrown through a handler whose question has to travel to the client and back before it can go on. */
export class InputRequired extends Error {
  override readonly name = 'InputRequired'
}

/** True when every member of `needed` is declared. A bare `elicitation: {}` stands for form mode. */
export function declares (declared: Readonly<Record<string, unknown>>, needed: Record<string, object>): boolean {
  return Object.entries(needed).every(([name, parts]) => {
    const have = declared[name]
    if (typeof have !== 'object' || have === null) return false
    const modes = name === 'elicitation' && Object.keys(have).length === 0 ? { form: {} } : have
    return Object.keys(parts).every(part => part in modes)
  })
}

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
