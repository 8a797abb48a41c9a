import type { Peer } from '../peer/peer.js'

/** A notification that belongs to no call. Of the nodes that serve a session, only its home sends it. */
export interface Announcement { readonly text: string, readonly method: string }

const LIST_CHANGES = ['notifications/tools/list_changed', 'notifications/prompts/list_changed', 'notifications/resources/list_changed']
const UPDATED = 'notifications/resources/updated'

const isListChange = (method: string): boolean => method.endsWith('/list_changed')

export const isAnnouncement = (method: string): boolean => isListChange(method) || method === UPDATED

/** Announces all that a client may have missed: each list, and each resource that it is subscribed to, may have changed. */
export function announceAnyChange (peer: Peer): void {
  if (peer.revision === undefined) return
  for (const method of LIST_CHANGES) peer.notify(method)
  for (const uri of peer.subscriptions) peer.notify(UPDATED, { uri })
}

/** The announcements in the answer of another node; undefined if it did not answer with any list of them. */
export function announcementsIn (answer: unknown): Announcement[] | undefined {
  return Array.isArray(answer) && answer.every(isOne) ? answer : undefined
}

/**
 * True for a notification of which one of each text is enough while no client is connected: however often a list changes, one list_changed waits. The
 * same holds for updates of a resource until a client has connected for the first time; later it may come back for every single event.
 */
const waitsOnce = (method: string, wasConnected: boolean): boolean => isListChange(method) || (!wasConnected && method === UPDATED)

/** The announcements that wait in this process for a client to connect. */
export class WaitingAnnouncements {
  #byText: Map<string, Announcement> | undefined

  /** False for one that must not wait. */
  add (announcement: Announcement, wasConnected: boolean): boolean {
    if (!waitsOnce(announcement.method, wasConnected)) return false
    this.#byText ??= new Map()
    this.#byText.set(announcement.text, announcement)
    return true
  }

  /** Takes out the announcements that wait. */
  take (): Announcement[] {
    const waiting = [...this.#byText?.values() ?? []]
    this.#byText = undefined
    return waiting
  }
}

/** The announcements of a stream that wait in the store for a client to connect. */
export class StoredAnnouncements {
  #texts: Set<string> | undefined
  #wasConnected: boolean

  constructor (wasConnected: boolean) {
    this.#wasConnected = wasConnected
  }

  /** Forgets them: a client has connected, so none waits. */
  clear (): void {
    this.#wasConnected = true
    this.#texts = undefined
  }

  /** Adds a message, if it is one of which one is enough; false if the same one waits already. */
  add (text: string, method: string): boolean {
    if (!waitsOnce(method, this.#wasConnected)) return true
    if (this.#texts?.has(text) === true) return false
    this.#texts = (this.#texts ?? new Set()).add(text)
    return true
  }
}

/** The announcements that are to be made once it is known that no other node has made them. */
export class JoiningAnnouncements {
  readonly #byText = new Map<string, Announcement>()

  get all (): Iterable<Announcement> {
    return this.#byText.values()
  }

  add (announcement: Announcement): void {
    this.#byText.set(announcement.text, announcement)
  }

  /** Another node has made it: the client hears of the change by that. */
  drop (text: string): void {
    this.#byText.delete(text)
  }
}

function isOne (value: unknown): value is Announcement {
  const { text, method } = Object(value) as Record<string, unknown>
  return typeof text === 'string' && typeof method === 'string' && isAnnouncement(method)
}
