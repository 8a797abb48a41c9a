import type { Test } from 'tap'
import { capabilities } from './cell.js'
import { Client } from './client.js'
import { revisions } from '../support/specification/revisions.js'
import { local, remote } from './transports.js'
import type { Place } from './connection.js'

/** One of many clients of the same gateway, with something to recognise it by. */
export interface Member { canary: string, client: Client }

export interface Crowd {
  members: Member[]
  /** Those that can get notifications between their calls. */
  listeners: Member[]
  faults: string[]
}

/**
 * Clients over every transport in every revision, connected at the same time. Each answers questions with its own
 * canary.
 */
export async function gather (t: Test, place: Place, copies = 1): Promise<Crowd> {
  const faults: string[] = []
  const kinds = (place.app === undefined ? remote : local).flatMap(transport =>
    revisions.flatMap(revision => Array.from({ length: copies }, (_, copy) => ({ transport, revision, copy })))
  )
  const members = await Promise.all(kinds.map(async ({ transport, revision, copy }, index) => {
    const canary = `canary://${index}/${revision.version}/${copy}`
    const answers = { 'roots/list': () => ({ roots: [{ uri: canary }] }) }
    const client = await Client.open(place, transport, revision, { capabilities, answers, faults })
    t.teardown(async () => await client.close())
    return { canary, client }
  }))
  return { members, listeners: members.filter(({ client }) => client.transport.streams), faults }
}
