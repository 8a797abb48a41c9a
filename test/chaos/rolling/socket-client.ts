import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { WebSocket } from 'ws'
import type { Json } from '../../support/event-reader.js'
import { noteRun, type Tally } from './tally.js'

const RETRY = 50

/**
 * Makes one call after the other over a WebSocket, and connects again when it is closed. Gives the codes that it was
 * closed with.
 */
export async function callOverSocket (url: string, tally: Tally, signal: AbortSignal): Promise<number[]> {
  const codes: number[] = []
  while (!signal.aborted) {
    const socket = new WebSocket(`${url.replace('http', 'ws')}/mcp`, 'mcp')
    const closed = new Promise<number>(resolve => { socket.on('close', resolve) })
    socket.on('error', () => {})
    const opened = await Promise.race([once(socket, 'open').then(() => true, () => false), closed.then(() => false)])
    if (opened) await callUntilClosed(socket, closed, tally, signal)
    socket.close()
    if (opened && !signal.aborted) codes.push(await closed)
    else await sleep(RETRY)
  }
  return codes
}

async function callUntilClosed (
  socket: WebSocket,
  closed: Promise<number>,
  tally: Tally,
  signal: AbortSignal
): Promise<void> {
  const request = async (message: object): Promise<Json | string> => {
    const answered = once(socket, 'message').then(([data]) => JSON.parse(String(data)) as Json)
    socket.send(JSON.stringify(message), () => {})
    return await Promise.race([answered, closed.then(code => `closed with ${code}`)])
  }
  const hello = await request({
    jsonrpc: '2.0',
    id: 'hello',
    method: 'initialize',
    params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'test', version: '1' } }
  })
  if (typeof hello === 'string') return
  socket.send(JSON.stringify({ jsonrpc: '2.0', method: 'notifications/initialized' }), () => {})
  while (!signal.aborted && socket.readyState === WebSocket.OPEN) {
    const token = tally.next()
    tally.note(token, await request(noteRun(token, token, 0)))
  }
}
