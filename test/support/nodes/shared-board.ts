import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { json } from 'node:stream/consumers'
import type { FastifyInstance } from 'fastify'
import type { Owner } from '../owner.js'
import { LocalBoard, type Board } from './board.js'

interface Order { verb: 'mark' | 'hasCome' | 'wait' | 'meet' | 'count' | 'everywhere', args: never[] }

/**
 * Serves a board to processes that have its URL in TEST_BOARD. `urls` are those of the processes, as far as they run.
 */
export async function serveBoard (owner: Owner, urls: () => string[]): Promise<string> {
  const board = new LocalBoard()
  const everywhere = async (name: string, argument: object): Promise<void> => {
    await Promise.all(urls().map(async url => await post(`${url}/board`, { name, argument })))
  }
  const carryOut = async (request: IncomingMessage, reply: ServerResponse): Promise<void> => {
    const { verb, args } = await json(request) as Order
    const result = await (verb === 'everywhere'
      ? everywhere(...(args as unknown as [string, object]))
      : (board[verb] as (...args: unknown[]) => Promise<unknown>)(...args))
    reply.end(JSON.stringify({ result }))
  }
  const server = createServer((request, reply) => {
    carryOut(request, reply).catch(error => {
      reply.destroy(error as Error)
    })
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  owner.teardown(() => { server.closeAllConnections(); server.close() })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

/** The board that another process serves. */
export function joinBoard (fastify: FastifyInstance, url: string): Board {
  const own = new LocalBoard()
  fastify.post('/board', async request => {
    const { name, argument } = request.body as { name: string, argument: Record<string, string> }
    await own.everywhere(name, argument)
    return {}
  })
  const order = async <T>(verb: Order['verb'], args: unknown[], signal?: AbortSignal): Promise<T> =>
    ((await post(url, { verb, args }, signal)) as { result: T }).result
  return {
    mark: async (...args) => await order('mark', args),
    hasCome: async (...args) => await order('hasCome', args),
    wait: async (moment, signal) => await order('wait', [moment], signal),
    meet: async (...args) => await order('meet', args),
    count: async (...args) => await order('count', args),
    define: (name, action) => own.define(name, action),
    everywhere: async (...args) => await order('everywhere', args)
  }
}

async function post (url: string, body: object, signal?: AbortSignal): Promise<unknown> {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
    ...(signal && { signal })
  })
  if (!response.ok) throw new Error(`${url} answered ${response.status}: ${await response.text()}`)
  return await response.json()
}
