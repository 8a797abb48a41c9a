import { once } from 'node:events'
import WebSocket from 'ws'
import type { Test } from 'tap'
import { messagesOf } from '../support/event-reader.js'
import { modernMeta } from '../support/modern.js'
import { openSession, post } from '../support/http-session.js'
import { openStream } from '../support/event-reader.js'
import { folder, type Json, type Launched } from '../support/process.js'

/**
 * A tool that ends some seconds after the server begins to shut down, so that a slow machine has time to look, and one
 * that returns how often the first was started.
 */
const WAIT = `
import { setTimeout as sleep } from 'node:timers/promises'
import { tool } from 'mcp-patchbay'
let started = 0
export default async function wait (fastify) {
  const draining = new Promise(resolve => fastify.mcp.onDrain(resolve))
  fastify.mcp.tools.add(tool({ name: 'wait', description: 'd', run: async (_input, call) => {
    const mine = started++
    call.progress(0)
    await draining
    await sleep(3_000 + mine % 300)
    return 'done'
  } }))
  fastify.mcp.tools.add(tool({ name: 'started', description: 'd', run: () => started }))
}`

export const waiting = async (t: Test): Promise<string> => await folder(t, { 'wait.mjs': WAIT })

/** What came of the calls of one client, and how it was let go. */
export interface Served { answers: Json[], farewell?: unknown }

/** Puts `count` calls in flight; `done` settles when the server is done with the client. */
export type Caller = (url: string, count: number, launched: Launched) => Promise<{ done: Promise<Served> }>

const wait = (id: number, meta: Json = {}): Json => ({
  jsonrpc: '2.0',
  id,
  method: 'tools/call',
  params: { name: 'wait', arguments: {}, _meta: meta }
})
const listen = (id: number): Json => ({
  jsonrpc: '2.0',
  id,
  method: 'subscriptions/listen',
  params: { notifications: { toolsListChanged: true }, _meta: modernMeta() }
})
const ids = (count: number): number[] => Array.from({ length: count }, (_, index) => index + 1)
const isAnswer = (message: Json): boolean => 'id' in message && !('method' in message)

/** Clients of every transport, each of them with long-lived calls besides. */
export const CALLERS: Record<string, Caller> = {
  stdio: async (_url, count, launched) => {
    launched.send({ id: 'hello', method: 'initialize', params: {} })
    await launched.next()
    launched.send(...ids(count).map(id => wait(id)), listen(0))
    return {
      done: launched.ended.then(({ stdout }) => ({
        answers: stdout
          .trim()
          .split('\n')
          .map(line => JSON.parse(line) as Json)
          .filter(isAnswer)
          .slice(1)
      }))
    }
  },
  legacy: async (url, count) => {
    const session = await openSession(url)
    const stream = await session.listen()
    const calls = ids(count).map(
      async id => await streamed(await session.stream(wait(id, id % 2 === 0 ? { progressToken: id } : {})))
    )
    return { done: Promise.all(calls).then(async answers => ({ answers, farewell: await stream.rest() })) }
  },
  modern: async (url, count) => {
    const send = async (message: Json, method: string, name: Record<string, string>) =>
      answerOf(
        await openStream(`${url}/mcp`, {
          method: 'POST',
          headers: {
            'content-type': 'application/json',
            'mcp-protocol-version': '2026-07-28',
            'mcp-method': method,
            ...name
          },
          body: JSON.stringify(message)
        }).then(async ({ response }) => await response.text())
      )
    const calls = ids(count).map(
      async id =>
        await send(wait(id, { ...modernMeta(), ...(id % 2 === 0 ? { progressToken: id } : {}) }), 'tools/call', {
          'mcp-name': 'wait'
        })
    )
    return { done: Promise.all([...calls, send(listen(0), 'subscriptions/listen', {})]).then(answers => ({ answers })) }
  },
  message: async (url, count) => {
    const calls = ids(count).map(
      async id =>
        (await (
          await fetch(`${url}/message`, {
            method: 'POST',
            headers: { 'content-type': 'application/json' },
            body: JSON.stringify(wait(id))
          })
        ).json()) as Json
    )
    return { done: Promise.all(calls).then(answers => ({ answers })) }
  },
  sse: async (url, count) => {
    const stream = await openStream(`${url}/sse`)
    const { data = '' } = await stream.event() ?? {}
    const postMessage = async (message: Json) =>
      await (
        await fetch(`${url}${data}`, {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify(message)
        })
      ).text()
    await postMessage({ jsonrpc: '2.0', id: 'hello', method: 'initialize', params: {} })
    await Promise.all(ids(count).map(async id => await postMessage(wait(id))))
    return {
      done: stream.rest().then(rest => ({
        answers: rest
          .filter(({ data = '' }) => data !== '')
          .map(({ data = '' }) => JSON.parse(data) as Json)
          .slice(1),
        farewell: rest
      }))
    }
  },
  websocket: async (url, count) => {
    const socket = new WebSocket(`${url.replace('http', 'ws')}/mcp`)
    const received: Json[] = []
    socket.on('message', (data: Buffer) => received.push(JSON.parse(String(data)) as Json))
    await once(socket, 'open')
    for (const message of [
      { jsonrpc: '2.0', id: 'hello', method: 'initialize', params: {} },
      ...ids(count).map(id => wait(id)),
      listen(0)
    ]) {
      socket.send(JSON.stringify(message))
    }
    return {
      done: once(socket, 'close').then(([code]) => ({
        answers: received.filter(isAnswer).slice(1),
        farewell: code as unknown
      }))
    }
  }
}

/** How many calls have begun. */
export async function started (url: string): Promise<number> {
  const { body } = await post(
    url,
    { id: 1, method: 'tools/call', params: { name: 'started', arguments: {}, _meta: modernMeta() } },
    { 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'tools/call', 'mcp-name': 'started' }
  )
  return Number((body.result as { content: [{ text: string }] }).content[0].text)
}

async function streamed ({ response }: { response: Response }): Promise<Json> {
  return answerOf(await response.text())
}

/** The answer in a reply, whether it came as JSON or as the end of a stream. */
const answerOf = (body: string): Json => body.startsWith('{') ? JSON.parse(body) as Json : messagesOf(body).at(-1) ?? {}
