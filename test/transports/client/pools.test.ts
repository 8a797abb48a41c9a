import t, { type Test } from 'tap'
import { Pool } from 'undici'
import { HttpClient } from '../../../transports/client/http/http-client.js'
import type { HttpRequest } from '../../../transports/client/http/http-exchange.js'
import { startRawServer, sendJson, resultOf } from './raw-server.js'

const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'ping' })
const REQUEST: HttpRequest = { method: 'POST', path: '/mcp', headers: ['content-type', 'application/json'], body }

async function startClient (t: Test) {
  const opened: Pool[] = []
  class Counted extends Pool {
    constructor (origin: string, options: Pool.Options) {
      super(origin, options)
      opened.push(this)
    }
  }
  const server = await startRawServer(t, got => sendJson(got, resultOf(got)))
  const client = new HttpClient(Counted, new URL(server.url).origin, { connections: 4, maxQueue: 10_000 })
  t.teardown(async () => await client.close())
  const send = async (kind: 'call' | 'control' | 'stream'): Promise<string> =>
    await new Promise(resolve => {
      const receiver = {
        onHead: (status: number) => resolve(`status ${status}`),
        onData: () => {},
        onEnd: () => {},
        onError: (error: Error) => resolve(error.message)
      }
      if (kind === 'stream') client.stream(REQUEST, receiver)
      else client[kind](REQUEST, receiver, undefined)
    })
  return { client, opened, send }
}

t.test('connections of each kind are opened with the first request of the kind', async t => {
  const { opened, send } = await startClient(t)
  t.equal(opened.length, 0, 'none for a server that nothing is sent to')
  t.strictSame([await send('call'), await send('call')], ['status 200', 'status 200'])
  t.equal(opened.length, 1)
  t.strictSame([await send('control'), await send('stream'), await send('control')], Array(3).fill('status 200'))
  t.equal(opened.length, 3)
})

t.test('after the end every request fails, of kinds that were used and of others', async t => {
  const { client, opened, send } = await startClient(t)
  await send('call')
  await client.close()
  for (const kind of ['call', 'control', 'stream'] as const) t.match(await send(kind), /closed|destroyed/i, kind)
  t.ok(opened.every(pool => pool.destroyed), 'nothing stays open')
  await client.close()
})
