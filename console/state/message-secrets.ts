import { isObject, type Json, type JsonObject } from '../client/contract.js'
import type { Direction } from '../client/rpc.js'
import { below, type Pointer } from '../forms/model/value.js'
import { lists } from './lists.js'
import { secretPathsOf } from './redact.js'

/** The most things whose schemas are remembered, and schemas of each of them. */
const MAX_KNOWN = 500
const MAX_SCHEMAS = 10

/** Finds where messages hold what a schema calls secret: in arguments of tools, and in answers to questions. */
export class MessageSecrets {
  /** By what they belong to. A tool may leave the lists, and several questions may have the same key. */
  readonly #known = new Map<string, Json[]>()

  /** Takes each message in its order. */
  find (direction: Direction, message: JsonObject): ReadonlySet<Pointer> {
    if (direction === 'sent') {
      return new Set([...this.#inArguments(message), ...this.#inAnswer(message), ...this.#inAnswers(message)])
    }
    this.#rememberQuestions(message)
    return new Set()
  }

  forget (): void {
    this.#known.clear()
  }

  #inArguments ({ method, params }: JsonObject): Pointer[] {
    if (method !== 'tools/call' || !isObject(params)) return []
    const name = `tool ${String(params.name)}`
    this.#remember(name, lists.tool.peek().items.find(({ key }) => key === params.name)?.raw.inputSchema)
    return this.#secretsOf(name, params.arguments, '/params/arguments')
  }

  /** In the response to a question that was a request. */
  #inAnswer ({ id, result }: JsonObject): Pointer[] {
    return isObject(result) ? this.#secretsOf(`id ${String(id)}`, result.content, '/result/content') : []
  }

  /** In the request that brings the answers to the questions of a result. */
  #inAnswers ({ params }: JsonObject): Pointer[] {
    const answers = isObject(params) && isObject(params.inputResponses) ? Object.entries(params.inputResponses) : []
    return answers.flatMap(([key, answer]) =>
      isObject(answer)
        ? this.#secretsOf(`key ${key}`, answer.content, `${below('/params/inputResponses', key)}/content`)
        : []
    )
  }

  #rememberQuestions ({ id, method, params, result }: JsonObject): void {
    if (method === 'elicitation/create' && isObject(params)) this.#remember(`id ${String(id)}`, params.requestedSchema)
    const asked = isObject(result) && isObject(result.inputRequests) ? Object.entries(result.inputRequests) : []
    for (const [key, request] of asked) {
      if (isObject(request) && isObject(request.params)) this.#remember(`key ${key}`, request.params.requestedSchema)
    }
  }

  #remember (name: string, schema: Json | undefined): void {
    if (schema === undefined) return
    const known = (this.#known.get(name) ?? []).filter(other => other !== schema)
    this.#known.delete(name)
    this.#known.set(name, [...known, schema].slice(-MAX_SCHEMAS))
    const [oldest] = this.#known.keys()
    if (this.#known.size > MAX_KNOWN && oldest !== undefined) this.#known.delete(oldest)
  }

  #secretsOf (name: string, value: Json | undefined, path: Pointer): Pointer[] {
    return (this.#known.get(name) ?? []).flatMap(schema => secretPathsOf(value, schema, path))
  }
}
