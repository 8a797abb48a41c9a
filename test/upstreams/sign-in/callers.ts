import type { FastifyInstance } from 'fastify'
import type { Test } from 'tap'
import { ADA, apiKeys, bearer, BOB } from '../../support/keys.js'
import type { Json } from '../../support/modern.js'
import { until } from '../../support/wait.js'
import type { Way } from '../fixture/open.js'
import { loggedGateway, openPlace, PageVisitor, REDIRECT_URI, type Place } from './place.js'

export const ENTRY = { auth: 'caller', oauth: { redirectUri: REDIRECT_URI } }
export const URLS = { elicitation: { url: {} } }

/** A gateway in front of a server that each of its callers signs in to. */
export async function withCallers (
  t: Test,
  onRequest: (token: string, body: string) => void = () => {},
  way: Way = 'HTTP'
): Promise<{ place: Place, app: FastifyInstance, log: string[] }> {
  const place = await openPlace(t, { entry: ENTRY, onRequest, way })
  return { place, ...await loggedGateway(t, { ...place.options, apiKeys }) }
}

export async function post (app: FastifyInstance, key: string, method: string, params: object = {}): Promise<Json> {
  const reply = await app.inject({
    method: 'POST',
    url: '/message',
    headers: bearer(key),
    payload: { jsonrpc: '2.0', id: 1, method, params }
  })
  return reply.json()
}

export const echo = async (app: FastifyInstance, key: string, text: string): Promise<Json> =>
  await post(app, key, 'tools/call', { name: 'linear__echo', arguments: { text } })

export async function linkFor (app: FastifyInstance, key: string, name = 'linear__sign_in'): Promise<string> {
  const { error } = await post(app, key, 'tools/call', { name, arguments: {} })
  return (error as { data: { url: string } }).data.url
}

export const namesFor = async (app: FastifyInstance, key: string): Promise<string[]> => {
  const { result } = await post(app, key, 'tools/list')
  return (result as { tools: Array<{ name: string }> }).tools.map(({ name }) => name)
}

const CALLERS = [['ada', ADA], ['bob', BOB]] as const
const AT_ONCE = 100

interface Echoed { content: Array<{ text?: string }> }

/** Has two callers sign in and call, mixed; the server sees which token comes with whose call. */
export async function mixCalls (t: Test, count: number, way?: Way): Promise<void> {
  const callersOf = new Map<string, Set<string>>()
  const { app, place } = await withCallers(t, (token, body) => {
    const [, caller] = /"text":"(ada|bob) /.exec(body) ?? []
    if (caller !== undefined) callersOf.set(token, (callersOf.get(token) ?? new Set()).add(caller))
  }, way)
  const [, ...others] = CALLERS
  await new PageVisitor(app).signIn(await linkFor(app, ADA), ADA)
  await until(async () => (await namesFor(app, ADA)).includes('linear__echo'))
  for (const [, key] of others) await new PageVisitor(app).signIn(await linkFor(app, key, 'linear__echo'), key)
  const wrong: Json[] = []
  for (let done = 0; done < count; done += AT_ONCE) {
    // Half-way both tokens end, in the midst of calls.
    if (done === Math.floor(count / 2 / AT_ONCE) * AT_ONCE) {
      for (const token of place.server.tokens) place.withdrawn.add(token)
    }
    await Promise.all(Array.from({ length: AT_ONCE }, async (_, index) => {
      const [name, key] = CALLERS[index % 2] ?? CALLERS[0]
      const text = `${name} ${done + index}`
      const answer = await echo(app, key, text)
      if ((answer['result'] as Echoed | undefined)?.content[0]?.text !== text) wrong.push(answer)
    }))
  }
  t.strictSame(wrong, [], 'each call has its own answer')
  t.ok([...callersOf.values()].every(({ size }) => size === 1), 'each token comes with calls of one caller alone')
  t.ok(callersOf.size >= CALLERS.length)
  t.same(place.issuer.granted.filter(grant => grant === 'refresh_token').length, 2, 'each was renewed once')
}
