import { EventEmitter, once } from 'node:events'
import type { Channel } from '../../protocol/wire/channel.js'
import { Dispatcher, type DispatcherOptions } from '../../protocol/dispatch/dispatcher.js'
import { decode, type Incoming } from '../../protocol/wire/jsonrpc.js'
import { Peer } from '../../protocol/peer/peer.js'
import type { PeerOptions } from '../../protocol/peer/peer-options.js'
import { revisionNamed } from '../../protocol/revisions/table.js'
import type { Revision } from '../../protocol/revisions/revision.js'
import { within } from './wait.js'

export type Json = Record<string, unknown>

const DEADLINE = 60_000

/** A channel that remembers what was sent; `next` waits for it, but not for ever. */
export class Recorder implements Channel {
  readonly sent: string[] = []
  readonly statuses: number[] = []
  streams = true
  ends = 0
  readonly #arrivals = new EventEmitter()
  #read = 0

  respond (text: string, status: number): void {
    this.statuses.push(status)
    this.emit(text)
  }

  emit (text: string): void {
    this.sent.push(text)
    this.#arrivals.emit('message')
  }

  end (): void {
    this.ends++
    this.#arrivals.emit('message')
  }

  async next (): Promise<Json> {
    await this.until(() => this.sent.length > this.#read)
    return JSON.parse(this.sent[this.#read++] as string) as Json
  }

  async until (reached: () => boolean): Promise<void> {
    await within(DEADLINE, async signal => { while (!reached()) await once(this.#arrivals, 'message', { signal }) })
  }
}

export const revision = (version: string): Revision => revisionNamed(version) ?? unknown(version)

/** A dispatcher without any plugin. */
export function dispatcher (options: Partial<DispatcherOptions> = {}): Dispatcher {
  return new Dispatcher({ info: { name: 'test', version: '1.0.0' }, ...options })
}

/** One connected client that needs no handshake, with its channel. */
export function client (mcp: Dispatcher, { revision: spoken = revision('2025-06-18'), ...options }: PeerOptions = {}) {
  const channel = new Recorder()
  const peer = new Peer({ channel, revision: spoken, ...options })
  mcp.lifecycle.connect(peer)
  const send = (message: object | string): void => mcp.receive(incoming(message), peer, channel)
  let lastId = 0
  return {
    peer,
    channel,
    send,
    /** Sends a request and gives its id. */
    ask: (method: string, params: object = {}): number => {
      send({ jsonrpc: '2.0', id: ++lastId, method, params })
      return lastId
    },
    request: async (method: string, params: object = {}): Promise<Json> => {
      send({ jsonrpc: '2.0', id: ++lastId, method, params })
      return await channel.next()
    }
  }
}

/** The params of a self-describing request. */
export const modern = (capabilities: object = {}, more: object = {}) => ({
  _meta: {
    'io.modelcontextprotocol/protocolVersion': '2026-07-28',
    'io.modelcontextprotocol/clientCapabilities': capabilities,
    'io.modelcontextprotocol/clientInfo': { name: 'test', version: '1.0.0' },
    ...more
  }
})

function incoming (message: object | string): Incoming {
  return decode(typeof message === 'string' ? message : JSON.stringify(message))
}

function unknown (version: string): never {
  throw new Error(`there is no revision ${version}`)
}
