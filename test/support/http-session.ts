import { openStream, type Json, type EventReader } from './event-reader.js'

export interface Posted { status: number, headers: Headers, body: Json }

/** A client of Streamable HTTP with a session. */
export class HttpSession {
  readonly url: string
  readonly id: string

  constructor (url: string, id: string) {
    this.url = url
    this.id = id
  }

  get headers (): Record<string, string> {
    return { 'mcp-session-id': this.id }
  }

  async post (message: object, headers: Record<string, string> = {}): Promise<Posted> {
    return await post(this.url, message, { ...this.headers, ...headers })
  }

  /** A POST whose answer is expected as a stream. */
  async stream (message: object): Promise<EventReader> {
    return await openStream(`${this.url}/mcp`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...this.headers },
      body: text(message)
    })
  }

  async listen (lastEventId?: string): Promise<EventReader> {
    return await openStream(`${this.url}/mcp`, {
      headers: { ...this.headers, ...(lastEventId === undefined ? {} : { 'last-event-id': lastEventId }) }
    })
  }

  async end (): Promise<number> {
    return (await fetch(`${this.url}/mcp`, { method: 'DELETE', headers: this.headers })).status
  }
}

export async function openSession (
  url: string,
  protocolVersion = '2025-11-25',
  capabilities: object = {}
): Promise<HttpSession> {
  const { headers, status } = await post(url, {
    id: 0,
    method: 'initialize',
    params: { protocolVersion, capabilities, clientInfo: { name: 'test', version: '1' } }
  })
  const id = headers.get('mcp-session-id')
  if (id === null) throw new Error(`no session: ${status}`)
  return new HttpSession(url, id)
}

export async function post (url: string, message: object, headers: Record<string, string> = {}): Promise<Posted> {
  const response = await fetch(`${url}/mcp`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream', ...headers },
    body: text(message)
  })
  const body = await response.text()
  return { status: response.status, headers: response.headers, body: (body === '' ? {} : JSON.parse(body)) as Json }
}

export const slow = (id: number, steps: number, delay: number, progressToken: string | undefined = 'p') => ({
  id,
  method: 'tools/call',
  params: { name: 'slow', arguments: { steps, delay }, ...(progressToken === '' ? {} : { _meta: { progressToken } }) }
})

const text = (message: object): string => JSON.stringify({ jsonrpc: '2.0', ...message })
