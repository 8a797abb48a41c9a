import { Agent, type ClientRequest, type IncomingMessage } from 'node:http'
import { suffixOf, type Parcel, type Place, type Receive, type Connection } from '../connection.js'
import { exchange, readBody } from '../../support/exchange.js'
import { readEvents } from '../../support/event-reader.js'

/** Streamable HTTP on `/mcp`: with a session and its standalone stream, or without either. */
export async function openStreamable (place: Place, receive: Receive): Promise<Connection> {
  const agent = new Agent({ keepAlive: true })
  const endpoint = `${place.url}/mcp${suffixOf(place)}`
  let session: Record<string, string> = {}
  let standalone: ClientRequest | undefined
  /** Settle when what asks for no answer was taken: the end of the session must not overtake it. */
  const taken: Array<Promise<unknown>> = []

  return { send, close }

  function send (parcel: Parcel): { drop: () => void } {
    const headers = {
      accept: 'application/json, text/event-stream',
      ...headersOf(parcel),
      ...(parcel.revision.modern ? {} : session)
    }
    const sent = exchange(agent, endpoint, { method: 'POST', headers, body: parcel.text }, reply => {
      const id = reply.headers['mcp-session-id']
      if (id !== undefined) session = { 'mcp-session-id': String(id) }
      if (parcel.method === 'notifications/initialized') listen()
      read(reply)
    })
    if (parcel.method?.startsWith('notifications/') === true) {
      taken.push(new Promise(resolve => sent.on('response', resolve).on('close', resolve)))
    }
    return { drop: () => { sent.destroy() } }
  }

  function listen (): void {
    standalone = exchange(
      agent,
      endpoint,
      { method: 'GET', headers: { accept: 'text/event-stream', ...session } },
      read
    )
  }

  function read (reply: IncomingMessage): void {
    if (reply.headers['content-type']?.startsWith('text/event-stream') === true) {
      readEvents(reply, ({ data = '' }) => { if (data !== '') receive(JSON.parse(data), reply.statusCode) })
    } else {
      readBody(reply, body => { if (body !== '') receive(JSON.parse(body), reply.statusCode) })
    }
  }

  async function close (): Promise<void> {
    await Promise.all(taken)
    standalone?.destroy()
    if (session['mcp-session-id'] !== undefined) await endSession()
    agent.destroy()
  }

  async function endSession (): Promise<void> {
    await new Promise<void>(resolve => {
      exchange(agent, endpoint, { method: 'DELETE', headers: session }, () => resolve()).on('error', () => resolve())
    })
  }
}

// The header came with 2025-06-18; the two that repeat the body came with the stateless revision.
function headersOf ({ revision: { modern, titles, version }, method, name }: Parcel): Record<string, string> {
  return {
    ...(modern || (titles && method !== 'initialize') ? { 'mcp-protocol-version': version } : {}),
    ...(modern && method !== undefined ? { 'mcp-method': method } : {}),
    ...(modern && name !== undefined ? { 'mcp-name': name } : {})
  }
}
