import type { FastifyInstance } from 'fastify'
import type { Revision } from '../support/specification/revisions.js'

/** Something to send, and what a transport with headers has to repeat of it. */
export interface Parcel { text: string, revision: Revision, method?: string, name?: string }

/** Takes what the server sent, parsed, with the HTTP status it came with where there is one. */
export type Receive = (value: unknown, status?: number) => void

/** One open connection to the gateway. */
export interface Connection {
  send: (parcel: Parcel) => { drop: () => void }
  close: () => Promise<void>
}

/** A gateway; `app` where it is in this process; `view` where clients connect to one. */
export interface Place { app?: FastifyInstance, url: string, view?: string }

/** The part of a path that names the view. */
export const suffixOf = ({ view }: Place): string => view === undefined ? '' : `/${view}`

/** A way to the gateway, and what it cannot do, as data. */
export interface Transport {
  readonly name: string
  /** False where there is nothing but the answer: no progress, no questions, no announcements. */
  readonly streams: boolean
  /** False where every message stands alone, so that nothing is agreed before. */
  readonly remembers: boolean
  /** True where answers come with an HTTP status of their own. */
  readonly http: boolean
  /** True where one more connection costs a process. */
  readonly costly: boolean
  /** True where a client cancels by closing the connection its request went out on. */
  readonly cancelsByDropping: (revision: Revision) => boolean
  readonly open: (place: Place, receive: Receive) => Promise<Connection>
}
