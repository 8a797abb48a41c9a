import { modernHeaders } from '../../load/transports/post.js'
import { modernMeta } from '../../support/messages.js'
import type { Cluster, Node } from './cluster.js'
import type { Outcome, Tally } from './tally.js'
import { Wire, type Answer, type AskOptions } from './wire.js'

export type Json = Record<string, unknown>

/** All callers use the same id, so only the text of an answer tells whose it is. */
const ID = 7
const REVISION = '2025-11-25'
const HELLO = {
  protocolVersion: REVISION,
  capabilities: { elicitation: {}, sampling: {}, roots: {} },
  clientInfo: { name: 'chaos', version: '1' }
}

let marks = 0

/** A client that asks one node after the other. */
export class Caller {
  readonly cluster: Cluster
  readonly tally: Tally
  readonly wire = new Wire()
  session: string | undefined
  /** True when the session was opened while something was harmed. */
  isUncertain = false

  constructor (cluster: Cluster, tally: Tally) {
    this.cluster = cluster
    this.tally = tally
  }

  /** A text that no other call sends. */
  mark (): string {
    return `canary-${marks++}-end`
  }

  /** A call without a session. */
  async callModern (node: Node, params: Json, options?: AskOptions): Promise<Answer> {
    const request = {
      method: 'tools/call',
      params: { ...params, _meta: { ...modernMeta(), ...(params['_meta'] as Json) } }
    }
    return await this.#post(node, request, modernHeaders(request), options)
  }

  /** A call in the session. */
  async callTool (node: Node, params: Json, options?: AskOptions): Promise<Answer> {
    return await this.#post(node, { method: 'tools/call', params }, this.sessionHeaders, options)
  }

  /** Answers a question of a tool. */
  async answer (node: Node, id: unknown, result: object): Promise<Answer> {
    const wire = new Wire()
    const body = JSON.stringify({ jsonrpc: '2.0', id, result })
    const answer = await wire.ask(node.gateway.port, {
      method: 'POST',
      path: '/mcp',
      headers: this.sessionHeaders,
      body
    })
    wire.close()
    return answer
  }

  /** The stream of the session, or the rest of a reply. */
  async listen (node: Node, lastId: string | undefined, options?: AskOptions): Promise<Answer> {
    const after: Record<string, string> = lastId === undefined ? {} : { 'Last-Event-ID': lastId }
    return await this.wire.ask(
      node.gateway.port,
      { method: 'GET', path: '/mcp', headers: { ...this.sessionHeaders, ...after, Accept: 'text/event-stream' } },
      options
    )
  }

  /** Opens a session; what became of that. */
  async open (node: Node): Promise<Outcome> {
    this.isUncertain = this.cluster.isHarmed
    const answer = await this.#post(node, { method: 'initialize', params: HELLO }, {})
    this.session = answer.headers.get('mcp-session-id')
    if (this.session === undefined) return judge(answer, '') === 'right' ? 'failed' : judge(answer, '')
    const body = JSON.stringify({ jsonrpc: '2.0', method: 'notifications/initialized' })
    await this.wire.ask(node.gateway.port, { method: 'POST', path: '/mcp', headers: this.sessionHeaders, body })
    return 'right'
  }

  get sessionHeaders (): Record<string, string> {
    return { 'Mcp-Session-Id': this.session ?? '', 'MCP-Protocol-Version': REVISION }
  }

  async #post (
    node: Node,
    request: { method: string, params: Json },
    headers: Record<string, string>,
    options?: AskOptions
  ): Promise<Answer> {
    const body = JSON.stringify({ jsonrpc: '2.0', id: ID, ...request })
    return await this.wire.ask(node.gateway.port, { method: 'POST', path: '/mcp', headers, body }, options)
  }
}

/** What became of a call whose answer has to have this text, and no other. */
export function judge ({ late, status, whole, messages }: Answer, mark: string): Outcome {
  const last = messages.at(-1)?.text
  if (late) return 'lost'
  if (status === 503) return 'refused'
  if (status === 404) return 'gone'
  // A stream that ends before the answer is one to resume.
  if (!isFinal(last) && (!whole || messages.length > 0)) return 'cut'
  const { result, error } = JSON.parse(last ?? '{}') as {
    result?: { isError?: boolean, content?: Array<{ text: string }> }
    error?: object
  }
  if (status !== 200 || error !== undefined || result?.isError === true) return 'failed'
  return result?.content?.[0]?.text === mark ? 'right' : 'wrong'
}

/** True for the answer to a call, which nothing follows. */
export function isFinal (text: string | undefined): boolean {
  return text !== undefined && (text.includes('"result":') || text.includes('"error":'))
}

/** An answer in a few words. */
export const describe = ({ status, messages, late }: Answer): string =>
  `${late ? 'late ' : ''}${status} ${messages.at(-1)?.text ?? ''}`
