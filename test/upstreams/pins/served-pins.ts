import type { Test } from 'tap'
import type { FastifyInstance } from 'fastify'
import { definitionsOf, sourceOf } from '../../../upstreams/pins/definitions.js'
import { SPACE, storableOf } from '../../../upstreams/pins/accepted.js'
import { createPinPort, type PinPort } from '../../../upstreams/pins/port.js'
import { gateway } from '../../support/gateway.js'
import type { FakeUpstream } from '../lists/fake-upstream.js'
import { served, type Served } from '../lists/served.js'

type Json = Record<string, unknown>

/** A gateway in front of upstreams with pins, whose accepted definitions are in its store. */
export interface ServedPins extends Served {
  readonly pins: PinPort
  /** Lines of the log about pins. */
  readonly reported: string[]
  readonly troubles: Array<string | undefined>
  /** Accepts what an upstream offers now, and settles when that counts. */
  accept: (upstream: FakeUpstream) => Promise<void>
}

export async function servedPins (
  t: Test,
  upstreams: FakeUpstream[],
  { file, app }: { file?: string, app?: FastifyInstance } = {}
): Promise<ServedPins> {
  const place = app ?? (await gateway(t, { tools: false }))
  const { values } = place.mcp.store
  const reported: string[] = []
  const troubles: Array<string | undefined> = []
  const log = { warn: (_data: object, text: string) => { reported.push(text) } }
  const pins = createPinPort(values, log, why => { troubles.push(why) })
  if (file !== undefined) pins.keepIn(file)
  t.teardown(() => pins.close())
  await pins.configure(upstreams.map(({ entry }) => entry))
  const rest = await served(t, upstreams, {}, place, pins)
  return {
    ...rest,
    pins,
    reported,
    troubles,
    accept: async ({ entry }) => {
      const snapshot = rest.lists.snapshotOf(entry.alias)
      if (snapshot === undefined) throw new Error(`${entry.alias} was not read`)
      const section = { source: sourceOf(entry), ...definitionsOf(snapshot) }
      await values.put(SPACE, entry.alias, await storableOf(entry.alias, section))
      await pins.reload()
    }
  }
}

/** Reads one list as clients get it, without what the gateway has of its own. */
export const all = async (
  client: { request: (method: string) => Promise<Json> },
  method: string,
  member: string
): Promise<Json[]> =>
  ((await client.request(method))[member] as Json[]).filter(({ name, uri, uriTemplate }) =>
    /__|^[ab]:/.test(String(uri ?? uriTemplate ?? name)))
