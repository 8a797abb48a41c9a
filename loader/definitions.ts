import type { FastifyPluginAsync } from 'fastify'
import { isObject } from '../protocol/wire/json.js'
import type { Prompt } from '../protocol/definitions/prompt.js'
import type { Resource } from '../protocol/definitions/resource.js'
import type { Tool } from '../protocol/definitions/tool.js'

export type Definition = Tool | Resource | Prompt

/** The default export of an author's file: a definition, a list of them, or a Fastify plugin. */
export type Contribution = Definition | FastifyPluginAsync | Contribution[]

const UNKNOWN = 'the default export must be a tool, a resource, a prompt, a list of them, or a Fastify plugin'
const KINDS = new Set<unknown>(['tool', 'resource', 'prompt'])

/** The definitions and plugins that a module exports by default. Throws a sentence if it has something else. */
export function contributionsOf (module: object): Array<Definition | FastifyPluginAsync> {
  const { default: exported } = module as { default?: Contribution }
  if (exported === undefined) throw new Error(withoutDefault(module))
  return flatten(exported)
}

/** The names of the definitions that a module exports beside its default export and that are not part of it. */
export function forgottenExports (module: object): string[] {
  const { default: exported, ...named } = module as Record<string, unknown>
  const used = new Set(Array.isArray(exported) ? exported.flat(Infinity) : [exported])
  // Names of CommonJS are exported by both ways.
  const whole = new Set(isObject(exported) ? Object.values(exported) : [])
  return Object.entries(named)
    .filter(([, value]) => isDefinition(value) && !used.has(value) && !whole.has(value))
    .map(([name]) => name)
}

/** How a definition is called in a message: its kind and its name or URI. */
export const titleOf = (item: Definition): string => `${item.kind} "${keyOf(item)}"`

/** The name or URI that no other definition of its kind may have. */
export const keyOf = (item: Definition): string => item.kind === 'resource' ? item.uri : item.name

function flatten (item: unknown): Array<Definition | FastifyPluginAsync> {
  if (Array.isArray(item)) return item.flatMap(flatten)
  if (typeof item === 'function') return [item as FastifyPluginAsync]
  if (isDefinition(item)) return [item]
  throw new Error(UNKNOWN + wrapHint(item))
}

const isDefinition = (value: unknown): value is Definition =>
  isObject(value) && KINDS.has((value as { kind?: unknown }).kind)

function withoutDefault (module: object): string {
  const names = Object.keys(module).filter(name => name !== 'module.exports')
  const usable = Object.entries(module).filter(([, value]) => isDefinition(value)).map(([name]) => name)
  const only = names.length === 0 ? '' : `, only ${names.map(name => `"${name}"`).join(', ')}`
  const meant =
    usable.length === 0 ? 'tool({ ... })' : usable.length === 1 ? String(usable[0]) : `[${usable.join(', ')}]`
  return `there is no default export${only}; write "export default ${meant}"`
}

/** The function that was forgotten around an object that has the members of a definition. */
function wrapHint (item: unknown): string {
  if (!isObject(item)) return ''
  const has = (...names: string[]): boolean => names.some(name => Object.hasOwn(item, name))
  const kind = has('uri', 'read')
    ? 'resource'
    : has('get', 'messages')
      ? 'prompt'
      : has('run', 'handler', 'execute', 'input', 'inputSchema')
        ? 'tool'
        : undefined
  return kind === undefined ? '' : `; wrap it: export default ${kind}({ ... })`
}
