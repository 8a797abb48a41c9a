import type { FastifyInstance } from 'fastify'
import type { Test } from 'tap'
import { randomToken } from '../../../lib/random-token.js'
import type { Options } from '../../../app.js'
import type { EventReader, Json } from '../event-reader.js'
import { listening } from '../gateway.js'
import { HttpSession } from '../http-session.js'
import { dataFolder } from './on-disk.js'
import { redisServer, withRedis } from './redis-server.js'

export interface Node { app: FastifyInstance, url: string }

/** Options that make gateways share a store of their own. */
export type Share = (t: Test) => Promise<Partial<Options>>

/** Runs tests for gateways on one data folder, and for gateways on one Redis. */
export function onSharedStores (t: Test, tests: (t: Test, share: Share) => void): void {
  t.test('on one data folder', async t => { tests(t, async t => ({ data: await dataFolder(t) })) })
  onSharedRedis(t, tests)
}

export function onSharedRedis (t: Test, tests: (t: Test, share: Share) => void): void {
  t.test('on one Redis', withRedis, async t => {
    const { url: redis } = await redisServer(t)
    tests(t, async () => ({ redis, redisPrefix: `${randomToken(6, 'hex')}:` }))
  })
}

/** Two gateways that listen, with the same options. */
export async function pairOf (t: Test, options: Partial<Options>): Promise<[Node, Node]> {
  return [await listening(t, options), await listening(t, options)]
}

/** A session, asked at another node. */
export const at = ({ url }: Node, { id }: HttpSession): HttpSession => new HttpSession(url, id)

/** The messages of a stream up to its end. */
export const messages = async (reader: EventReader): Promise<Json[]> =>
  (await reader.rest()).flatMap(({ data }) => (data ? [JSON.parse(data) as Json] : []))

export const callOf = (id: number | string, name: string, args: object = {}) => ({
  id,
  method: 'tools/call',
  params: { name, arguments: args }
})
