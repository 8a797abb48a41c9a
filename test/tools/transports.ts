import { once } from 'node:events'
import type { Test } from 'tap'
import { WebSocket } from 'ws'
import { createClient, McpError } from '../../app.js'
import { listening } from '../support/gateway.js'
import { within } from '../support/wait.js'
import type { Json } from '../support/recorder.js'

type Listening = Awaited<ReturnType<typeof listening>>

export type Transport = 'in-process' | '/message' | 'WebSocket'
export type Call = (name: string, args?: Json) => Promise<Json>

export const TRANSPORTS: Transport[] = ['in-process', '/message', 'WebSocket']

/** Calls tools of a gateway through one of its transports; rejects when the answer is an error. */
export async function through (t: Test, transport: Transport, { app, url }: Listening): Promise<Call> {
  if (transport === '/message') return async (name, args) => await post(url, name, args)
  if (transport === 'WebSocket') return await overWebSocket(t, url)
  const { request } = await createClient(app)
  return async (name, args = {}) => await request('tools/call', { name, arguments: args })
}

async function post (url: string, name: string, args: Json = {}): Promise<Json> {
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: args } })
  const headers = { 'content-type': 'application/json', 'mcp-protocol-version': '2025-11-25' }
  const reply = await fetch(`${url}/message`, { method: 'POST', headers, body })
  return resultOf(await reply.json() as Json)
}

async function overWebSocket (t: Test, url: string): Promise<Call> {
  const socket = new WebSocket(`${url.replace('http', 'ws')}/mcp`)
  t.teardown(() => socket.terminate())
  await once(socket, 'open')
  const waiting = new Map<unknown, (answer: Json) => void>()
  socket.on('message', (data: Buffer) => {
    const answer = JSON.parse(String(data)) as Json
    waiting.get(answer['id'])?.(answer)
  })
  let lastId = 0
  const request = async (method: string, params: Json): Promise<Json> =>
    await within(
      60_000,
      async signal =>
        await new Promise((resolve, reject) => {
          signal.addEventListener('abort', () => reject(new Error('no answer')))
          waiting.set(++lastId, resolve)
          socket.send(JSON.stringify({ jsonrpc: '2.0', id: lastId, method, params }))
        })
    )
  await request('initialize', {
    protocolVersion: '2025-11-25',
    capabilities: {},
    clientInfo: { name: 'test', version: '1' }
  })
  return async (name, args = {}) => resultOf(await request('tools/call', { name, arguments: args }))
}

function resultOf ({ result, error }: { result?: Json, error?: McpError }): Json {
  if (error !== undefined) throw new McpError(error.code, error.message, error.data)
  return result as Json
}
