import type { Peer } from '../peer/peer.js'

/** A notification that belongs to no call. Of the nodes that serve a session, only its home sends it. */
export interface Announcement { readonly text: string, readonly method: string }

const LIST_CHANGES = ['tools', 'prompts', 'resources'].map(kind => `notifications/${kind}/list_changed`)
const UPDATED = 'notifications/resources/updated'

const isListChange = (method: string): boolean => method.endsWith('/list_changed')

export const isAnnouncement = (method: string): boolean => isListChange(method) || method === UPDATED

/**
 * True for a notification of which one of each text is enough while no client is connected: however often a list
 * changes, one list_changed waits. The same holds for updates of a resource until a client has connected for the first
 * time; later it may come back for every single event.
 */
export const waitsOnce = (method: string, wasConnected: boolean): boolean =>
  isListChange(method) || (!wasConnected && method === UPDATED)

/** Announces all that a client may have missed: each list, and each resource it is subscribed to, may have changed. */
export function announceAnyChange (peer: Peer): void {
  if (peer.revision === undefined) return
  for (const method of LIST_CHANGES) peer.notify(method)
  for (const uri of peer.subscriptions) peer.notify(UPDATED, { uri })
}

/** The announcements in the answer of another node; undefined if it did not answer with any list of them. */
export function announcementsIn (answer: unknown): Announcement[] | undefined {
  return Array.isArray(answer) && answer.every(isOne) ? answer : undefined
}

function isOne (value: unknown): value is Announcement {
  const { text, method } = Object(value) as Record<string, unknown>
  return typeof text === 'string' && typeof method === 'string' && isAnnouncement(method)
}
