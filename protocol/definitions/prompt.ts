import type { Awaitable } from '../../lib/awaitable.js'
import type { Call } from '../dispatch/call.js'
import type { Completer, Completers, Relayed } from './common-members.js'
import { text, type ContentBlock } from '../wire/content.js'
import { checkMembers, checkName, checkPart, checkScopes } from './checks.js'
import { isObject } from '../wire/json.js'
import { checkLengths } from '../wire/result-size.js'

export interface PromptArgument { title?: string, description?: string, required?: boolean, complete?: Completer }
export interface PromptMessage { role: 'user' | 'assistant', content: ContentBlock }
export interface PromptResult { description?: string, messages: PromptMessage[] }

type Given<A extends Record<string, PromptArgument>> = {
  [K in keyof A]: A[K] extends { required: true } ? string : string | undefined
}

export interface PromptDefinition<A extends Record<string, PromptArgument>> {
  name: string
  title?: string
  description?: string
  icons?: object[]
  _meta?: Record<string, unknown>
  /** Scopes that a caller must have been granted to use it; `mcp` when absent. The operator has the last word. */
  scopes?: readonly string[]
  arguments?: A
  /** A string is one message of the user. */
  get: (given: Given<A>, call: Call) => Awaitable<string | PromptMessage[] | PromptResult>
}

/** A prompt as the registry keeps it. */
export interface Prompt extends Relayed {
  readonly kind: 'prompt'
  readonly scopes: readonly string[] | undefined
  readonly name: string
  readonly listed: Record<string, unknown>
  readonly required: string[]
  readonly arguments: string[]
  readonly complete: Completers
  get (given: Record<string, string>, call: Call): Promise<PromptResult>
}

const MEMBERS = ['name', 'title', 'description', 'icons', '_meta', 'scopes', 'arguments', 'get']
const ALIAS = { args: 'arguments', argsSchema: 'arguments', handler: 'get', load: 'get' }

/** Describes a prompt. */
export function prompt<const A extends Record<string, PromptArgument>> (definition: PromptDefinition<A>): Prompt {
  const { name, arguments: args, get, scopes, ...rest } = definition
  const what = checkName('prompt', name, /./, 'some text')
  checkMembers(what, definition, MEMBERS, ALIAS)
  checkScopes(what, definition)
  checkPart(what, definition, 'get', 'function')
  const entries: Array<[string, PromptArgument]> = Object.entries(args ?? {})
  const listed = entries.map(([key, { complete, ...argument }]) => ({ name: key, required: false, ...argument }))
  return {
    kind: 'prompt',
    scopes,
    name,
    listed: { name, ...rest, ...(listed.length === 0 ? {} : { arguments: listed }) },
    required: entries.filter(([, argument]) => argument.required).map(([key]) => key),
    arguments: entries.map(([key]) => key),
    complete: Object.fromEntries(
      entries.flatMap(([key, { complete }]) => (complete === undefined ? [] : [[key, complete]]))
    ),
    get: async (given, call) => toResult(await get(given as Given<A>, call), rest.description)
  }
}

function toResult (value: string | PromptMessage[] | PromptResult, description: string | undefined): PromptResult {
  const messages: unknown =
    typeof value === 'string' ? [{ role: 'user', content: text(value) }] : isObject(value) ? value.messages : value
  checkLengths(messages)
  if (!Array.isArray(messages) || !messages.every(isMessage)) {
    throw new Error('a prompt has to give text, or messages with a role and content')
  }
  return isObject(value)
    ? (value as unknown as PromptResult)
    : { ...(description === undefined ? {} : { description }), messages }
}

const isMessage = (value: unknown): value is PromptMessage =>
  isObject(value) && (value.role === 'user' || value.role === 'assistant') && isObject(value.content)
