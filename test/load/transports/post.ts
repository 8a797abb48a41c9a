import { HttpConnection, type HttpRequest } from '../../support/http-connection.js'
import type { Json, Ledger } from '../ledger.js'
import {
  closed,
  encode,
  hello,
  initialized,
  MODERN,
  modernParams,
  type Address,
  type Connection,
  type Transport,
  type Question
} from './transport.js'

/** `POST /message`, without a handshake. */
export const message: Transport<Address> = {
  depth: 1,
  open: async (gateway, ledger) => await new PostConnection(gateway, ledger, '/message', () => ({})).connected()
}

/** `POST /mcp` of the stateless revision. */
export const modern: Transport<Address> = {
  depth: 1,
  open: async (gateway, ledger) =>
    await new PostConnection(gateway, ledger, '/mcp', modernHeaders, modernParams).connected()
}

/** `POST /mcp` with a session. */
export const session: Transport<Address> = {
  depth: 1,
  open: async (gateway, ledger) => {
    const connection = new PostConnection(gateway, ledger, '/mcp', () => headers)
    const headers = await openSession(connection.connection)
    connection.goodbye = { method: 'DELETE', path: '/mcp', headers }
    return connection
  }
}

/** Shakes hands; the headers that name the session. */
export async function openSession (
  connection: HttpConnection,
  capabilities: Json = {}
): Promise<Record<string, string>> {
  const {
    headers: given,
    status,
    body
  } = await connection.exchange({ method: 'POST', path: '/mcp', body: hello('2025-11-25', capabilities) })
  const id = given.get('mcp-session-id')
  if (id === undefined) throw new Error(`no session was opened: ${status} ${body}`)
  const headers = { 'Mcp-Session-Id': id, 'MCP-Protocol-Version': '2025-11-25' }
  await connection.exchange({ method: 'POST', path: '/mcp', headers, body: initialized })
  return headers
}

export function modernHeaders ({ method, params }: Question): Record<string, string> {
  const name = params['name'] ?? params['uri']
  return {
    'MCP-Protocol-Version': MODERN,
    'Mcp-Method': method,
    ...(name === undefined ? {} : { 'Mcp-Name': String(name) })
  }
}

class PostConnection implements Connection {
  readonly ledger: Ledger
  readonly connection: HttpConnection
  readonly over: Promise<void>
  goodbye: HttpRequest | undefined
  readonly #path: string
  readonly #headers: (question: Question) => Record<string, string>
  readonly #params: (params: Json) => Json

  constructor (
    { port }: Address,
    ledger: Ledger,
    path: string,
    headers: (question: Question) => Record<string, string>,
    params = (given: Json) => given
  ) {
    this.ledger = ledger
    this.connection = new HttpConnection(port)
    this.over = closed(this.connection.socket)
    this.#path = path
    this.#headers = headers
    this.#params = params
  }

  async connected (): Promise<this> {
    await this.connection.connected()
    return this
  }

  send (id: number, question: Question): void {
    const { method, params } = question
    let status = 0
    this.connection.request(
      {
        method: 'POST',
        path: this.#path,
        headers: this.#headers(question),
        body: encode(id, method, this.#params(params))
      },
      {
        head: given => {
          status = given
        },
        message: text => {
          if (status === 200) this.ledger.receive(text)
        },
        // A refusal by HTTP has no id.
        end: () => {
          if (status !== 200) this.ledger.refuse(id)
        },
        cut: () => {}
      }
    )
  }

  cut (): void {
    this.connection.socket.resetAndDestroy()
  }

  async close (): Promise<void> {
    if (this.goodbye !== undefined) await this.connection.exchange(this.goodbye).catch(() => {})
    this.connection.socket.destroy()
  }
}
