import { setTimeout as sleep } from 'node:timers/promises'
import { WebSocket } from 'ws'
import { openSocket, performHandshake } from '../../load/transports/websocket.js'
import type { Caller } from './caller.js'
import { note } from './calls.js'
import type { Node } from './cluster.js'
import type { Outcome } from './tally.js'

const PATIENCE = 30_000
const AGAIN = 50

/** A client on a WebSocket, which stays at one node for as long as that lasts. */
export class SocketCaller {
  readonly #caller: Caller
  #node: Node | undefined
  #socket: WebSocket | undefined

  constructor (caller: Caller) {
    this.#caller = caller
  }

  async call (): Promise<void> {
    const node = this.#node ??= this.#caller.cluster.next()
    try {
      if (this.#socket?.readyState !== WebSocket.OPEN) await this.#connect(node)
    } catch {
      note(this.#caller, 'WebSocket', node, 'cut', 'not connected')
      this.#node = undefined
      return await sleep(AGAIN)
    }
    const mark = this.#caller.mark()
    const [outcome, sample] = await this.#ask(mark)
    note(this.#caller, 'WebSocket', node, outcome, sample)
    if (outcome !== 'right') this.close()
  }

  close (): void {
    this.#socket?.terminate()
    this.#node = undefined
  }

  async #connect (node: Node): Promise<void> {
    const { socket } = await openSocket(node.gateway.port)
    this.#socket = socket
    await Promise.race([
      performHandshake(socket),
      new Promise((_resolve, reject) => socket.once('close', () => reject(new Error('closed'))))
    ])
  }

  async #ask (mark: string): Promise<[outcome: Outcome, sample: string]> {
    const socket = this.#socket as WebSocket
    const late = new AbortController()
    const answered = new Promise<[Outcome, string]>(resolve => {
      const onClose = (): void => resolve(['cut', 'closed'])
      socket.once('close', onClose)
      const onMessage = (data: Buffer): void => {
        // Changes of lists are announced here, too.
        if (!String(data).includes('"id":')) return
        socket.off('close', onClose).off('message', onMessage)
        resolve([String(data).includes(`"text":"${mark}"`) ? 'right' : 'wrong', String(data)])
      }
      socket.on('message', onMessage)
    })
    socket.send(
      JSON.stringify({
        jsonrpc: '2.0',
        id: 7,
        method: 'tools/call',
        params: { name: 'nodes_echo', arguments: { text: mark } }
      })
    )
    const answer = await Promise.race([
      answered,
      sleep(PATIENCE, ['lost', 'no answer'] as [Outcome, string], { signal: late.signal })
    ])
    late.abort()
    return answer
  }
}
