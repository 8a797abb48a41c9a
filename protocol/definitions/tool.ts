import type { Static, TSchema } from '@sinclair/typebox'
import type { Awaitable } from '../../lib/awaitable.js'
import type { Call } from '../dispatch/call.js'
import { text, type CallToolResult, type ContentBlock } from '../wire/content.js'
import { checkFunctions, checkMembers, checkName, checkPart, checkScopes } from './checks.js'
import { isObject } from '../wire/json.js'
import { mirrorsOf, type Mirror } from '../http/mirrored-headers.js'
import { checkLengths } from '../wire/result-size.js'
import { compile, type Check, type Schema, type Typed } from '../schema/schema.js'

/** What a tool without an output schema may return: text is made from it, and structured content from an object. */
export type ToolValue = string | number | boolean | null | undefined | void | object | ContentBlock[] | CallToolResult

export type ToolOutput<O> = O extends TSchema ? Static<O> : ToolValue

export interface ToolDefinition<I extends Schema, O extends Schema | undefined> {
  name: string
  title?: string
  description: string
  input?: I
  output?: O
  annotations?: { title?: string, readOnlyHint?: boolean, destructiveHint?: boolean, idempotentHint?: boolean, openWorldHint?: boolean }
  icons?: Array<{ src: string, mimeType?: string, sizes?: string[], theme?: 'light' | 'dark' }>
  _meta?: Record<string, unknown>
  /** What a caller must have been granted to use it; `mcp` when absent. The operator has the last word. */
  scopes?: readonly string[]
  /** The error text for arguments that do not fit the schema; `why` is the text of the schema check, which is used when this is absent. */
  explain?: (given: Record<string, unknown>, why: string) => string
  /** True for an output that reports a failure: the client gets it as an `isError` result. */
  failed?: (output: ToolOutput<O>) => boolean
  /** How a person reads the result; JSON when absent. */
  text?: (output: ToolOutput<O>, input: Typed<I>) => string
  run: (input: Typed<I>, call: Call) => Awaitable<ToolOutput<O>>
}

/** A tool as the registry keeps it: checked, compiled, and without the author's types. */
export interface Tool {
  readonly kind: 'tool'
  readonly scopes: readonly string[] | undefined
  readonly name: string
  /** As it is listed, in the newest vocabulary. */
  readonly listed: Record<string, unknown>
  readonly mirrors: Mirror[]
  /** What is wrong with the arguments, in words; undefined when they fit. */
  readonly checkInput: Check
  /** Calls the author's `run`. */
  run (input: Record<string, unknown>, call: Call): unknown
  /** Makes the result from what `run` returned. */
  finish (output: unknown, input: Record<string, unknown>): CallToolResult
}

const NAME = /^[A-Za-z0-9_.-]{1,128}$/
const MEMBERS = ['name', 'title', 'description', 'input', 'output', 'annotations', 'icons', '_meta', 'scopes', 'explain', 'failed', 'text', 'run']
const ALIAS = { inputSchema: 'input', parameters: 'input', schema: 'input', outputSchema: 'output', handler: 'run', execute: 'run', call: 'run' }
const NO_INPUT = { type: 'object', properties: {}, additionalProperties: false }

// There are clients that look into `required` without asking whether it is there.
const listedInput = (input: Schema): object => ({ required: [], ...input })

/** Describes a tool. Mistakes in it (its name, its schemas) throw here, not when it is called. */
export function tool<I extends Schema = Record<never, never>, O extends Schema | undefined = undefined> (definition: ToolDefinition<I, O>): Tool {
  const { name, input = NO_INPUT, output, run, explain = (_given, why) => `arguments of ${name}: ${why}`, failed, text: render, scopes, ...rest } = definition
  const what = checkName('tool', name, NAME, '1 to 128 of A-Z a-z 0-9 _ . -')
  checkMembers(what, definition, MEMBERS, ALIAS)
  checkScopes(what, definition)
  checkPart(what, definition, 'description', 'string')
  checkPart(what, definition, 'run', 'function')
  checkFunctions(what, definition, ['explain', 'failed', 'text'])
  return inContext(what, () => {
    if ((input as Record<string, unknown>).type !== 'object') throw new Error('input must be a schema of type object')
    const check = compile(input)
    const checkOutput = output === undefined ? undefined : compile(output)
    return {
      kind: 'tool',
      scopes,
      name,
      listed: { name, ...rest, inputSchema: listedInput(input), ...(output === undefined ? {} : { outputSchema: output }) },
      mirrors: mirrorsOf(input),
      checkInput: given => {
        const why = check(given)
        return why === undefined ? undefined : explain(given as Record<string, unknown>, why)
      },
      run: (given, call) => run(given as Typed<I>, call),
      finish: (value, given) => {
        checkLengths(value)
        const wrong = checkOutput?.(value)
        if (wrong !== undefined) throw new Error(`tool "${name}" returned what its output schema does not allow: ${wrong}`)
        const result = toResult(value, checkOutput !== undefined, render && (() => render(value as ToolOutput<O>, given as Typed<I>)))
        return failed?.(value as ToolOutput<O>) === true ? { ...result, isError: true } : result
      }
    }
  })
}

function toResult (value: unknown, structured: boolean, render?: () => string): CallToolResult {
  if (!structured) {
    if (typeof value === 'string' && render === undefined) return { content: [text(value)] }
    if (isResult(value)) return value
    if (isBlock(value)) return { content: [value] }
    if (Array.isArray(value) && value.every(isBlock)) return { content: value }
  }
  if (value === undefined || value === null) return { content: [] }
  if (typeof value === 'function' || typeof value === 'symbol') throw new Error(`a ${typeof value} is no result`)
  const json = JSON.stringify(value)
  const shown = render?.() ?? (typeof value === 'object' ? json : String(value))
  // What counts is what JSON makes of it: a date is an object here and text there.
  return structured || /^[[{]/.test(json) ? { content: [text(shown)], structuredContent: value } : { content: [text(shown)] }
}

const BLOCKS: Record<string, string[]> = {
  text: ['text'],
  image: ['data', 'mimeType'],
  audio: ['data', 'mimeType'],
  resource: ['resource'],
  resource_link: ['uri', 'name']
}

// Data may have a `type` of its own, so the rest must fit too.
const isBlock = (value: unknown): value is ContentBlock =>
  isObject(value) && BLOCKS[String(value.type)]?.every(member => member === 'resource' ? isObject(value[member]) : typeof value[member] === 'string') === true

const isResult = (value: unknown): value is CallToolResult =>
  isObject(value) && Array.isArray(value.content) && value.content.every(isBlock)

function inContext<T> (what: string, make: () => T): T {
  try {
    return make()
  } catch (error) {
    throw new Error(`${what}: ${(error as Error).message}`, { cause: error })
  }
}
