import { messagesOf } from '../../support/event-reader.js'
import { bearer } from '../../support/keys.js'
import { modernMeta } from '../../support/modern.js'
import type { Gateway } from '../../support/restarting.js'
import { until } from '../../support/wait.js'

export type Json = Record<string, unknown>

/** The answer to one request. */
export interface Answer { result?: Json, error?: Json }

const CAPABILITIES = { extensions: { 'io.modelcontextprotocol/tasks': {} }, elicitation: {} }
const NAMED = ['tasks/get', 'tasks/update', 'tasks/cancel']

/** A caller with tasks, at whichever node. */
export class TaskOwner {
  readonly name: string
  readonly #key: string

  constructor (name: string, key: string) {
    this.name = name
    this.#key = key
  }

  /** Undefined where the connection ends without an answer. */
  async ask ({ url }: Gateway, method: string, params: Json = {}): Promise<Answer | undefined> {
    const name = NAMED.includes(method) ? params.taskId : params.name
    const text = await fetch(`${url}/mcp`, {
      method: 'POST',
      headers: {
        ...bearer(this.#key),
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        'mcp-protocol-version': '2026-07-28',
        'mcp-method': method,
        ...(typeof name === 'string' && { 'mcp-name': name })
      },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params: { ...params, _meta: modernMeta(CAPABILITIES) } })
    }).then(async response => await response.text()).catch(() => '')
    if (text === '') return undefined
    return (text.startsWith('{') ? JSON.parse(text) : messagesOf(text).at(-1)) as Answer
  }

  /** Calls a tool; gives the id of its task, or undefined where the answer is lost. */
  async create (node: Gateway, name: string, tag: string, ms = 0): Promise<string | undefined> {
    const answer = await this.ask(node, 'tools/call', { name, arguments: { tag, ms } })
    if (answer === undefined) return undefined
    const { taskId } = answer.result ?? {}
    if (typeof taskId !== 'string') throw new Error(`no task: ${JSON.stringify(answer)}`)
    return taskId
  }

  async get (node: Gateway, taskId: string): Promise<Json> {
    const answer = await this.ask(node, 'tasks/get', { taskId })
    return answer?.result ?? { status: 'none', answer }
  }

  async answer (node: Gateway, taskId: string): Promise<void> {
    const inputResponses = { who: { action: 'accept', content: { name: this.name } } }
    await this.ask(node, 'tasks/update', { taskId, inputResponses })
  }

  /** The task once it is in one of these states. */
  async reach (node: Gateway, taskId: string, ...states: string[]): Promise<Json> {
    let task: Json = {}
    await until(async () => {
      task = await this.get(node, taskId)
      return states.includes(String(task.status))
    }, `the task is ${states.join(' or ')}`, 120_000, 50).catch(error => {
      throw new Error(`${String(error)}: ${JSON.stringify(task)}`)
    })
    return task
  }
}
