import type { TSchema } from '@sinclair/typebox'
import { chain, type Awaitable } from '../../lib/awaitable.js'
import type { Call } from '../dispatch/call.js'
import type { Target } from '../dispatch/target.js'
import type { CallToolResult } from '../wire/content.js'
import { errors, type Mistake } from '../wire/errors.js'
import type { Identity } from '../wire/identity.js'
import { isObject } from '../wire/json.js'
import type { Params } from '../wire/jsonrpc.js'
import { withToolUi, type ToolUi } from './app.js'
import { checkFunctions, checkMembers, checkName, checkPart, checkScopes } from './checks.js'
import { mirrorsOf, type Mirror } from '../http/mirrored-headers.js'
import { checkLengths } from '../wire/result-size.js'
import { compile, compileForAll, jsonSchemaOf } from '../schema/schema.js'
import type { AnySchema, Check, Schema, Typed, Unparsed } from '../schema/schema.js'
import { isStandardSchema, parserOf, type Parse, type StandardSchema } from '../schema/standard-schema.js'
import type { Relayed } from './common-members.js'
import { taskMembers, type TaskUse } from './task-use.js'
import { isPatience, PATIENCE_SHAPE, withPatience, type Patience } from './patience.js'
import type { ToolOverride } from './overrides/override.js'
import type { ResultLayers } from './result-options.js'
import { hinter, toResult, type ToolValue } from './tool-result.js'

/** The value that `run` returns. */
export type ToolOutput<O> = O extends TSchema | StandardSchema ? Unparsed<O> : ToolValue

/** The value that is made of it: an output schema of the Standard Schema family may change it. */
type ParsedOutput<O> = O extends TSchema | StandardSchema ? Typed<O> : ToolValue

/** The structured content that clients get; without an output schema it is not known. */
type StructuredOutput<O> = O extends TSchema | StandardSchema ? Typed<O> : unknown

export interface ToolDefinition<I extends AnySchema, O extends AnySchema | undefined> {
  name: string
  title?: string
  description: string
  input?: I
  output?: O
  annotations?: {
    title?: string
    readOnlyHint?: boolean
    destructiveHint?: boolean
    idempotentHint?: boolean
    openWorldHint?: boolean
  }
  icons?: Array<{ src: string, mimeType?: string, sizes?: string[], theme?: 'light' | 'dark' }>
  _meta?: Record<string, unknown>
  /** Scopes that a caller must have been granted to use it; `mcp` when absent. The operator has the last word. */
  scopes?: readonly string[]
  /** After how many milliseconds a call is answered early: docs/patience.md. The operator has the last word. */
  patience?: Patience
  /**
   * The error text for arguments that do not fit the schema; `why` is the text of the schema check, which is used when
   * this is absent.
   */
  explain?: (given: Record<string, unknown>, why: string) => string
  /** True for an output that reports a failure: the client gets it as an `isError` result. */
  failed?: (output: ParsedOutput<O>) => boolean
  /** How a person reads the result; JSON when absent. */
  text?: (output: ParsedOutput<O>, input: Typed<I>) => string
  /** Makes calls tasks for clients that know them: `may` those that take long, `must` all, `never` when absent. */
  task?: TaskUse
  /** The page of its app, and who may call it: docs/apps.md. */
  ui?: ToolUi
  run: (input: Typed<I>, call: Call) => Awaitable<ToolOutput<O>>
}

/**
 * A tool as the registry keeps it: checked and compiled. `Input` is what clients send, `Output` is the structured
 * content they get.
 */
export interface Tool<Input = unknown, Output = unknown> extends Relayed {
  readonly kind: 'tool'
  /** For TypeScript only. */
  readonly '~types'?: { readonly input: Input, readonly output: Output }
  readonly scopes: readonly string[] | undefined
  readonly name: string
  /** As it is listed, in the newest vocabulary. */
  readonly listed: Record<string, unknown>
  /** The tool that it is made of, where an operator overrides something of it. `problems` are sentences about that. */
  readonly original?:
    { readonly tool: Tool, readonly override: ToolOverride, readonly problems: readonly string[] } | undefined
  readonly mirrors: Mirror[]
  /** Options for its results; undefined where clients get them as they are. */
  readonly results?: ResultLayers | undefined
  /** How long a client waits for a call before it is answered early; for ever when it is undefined or false. */
  readonly patience?: Patience | undefined
  /** True where clients get results as they are, whatever the options of a view say. */
  readonly hasWholeResults?: boolean | undefined
  /** Set where calls may, or must, outlive their request as tasks. */
  readonly task?: 'may' | 'must' | undefined
  /** Says what is wrong with the arguments; undefined when they fit. */
  readonly checkInput: Check
  /** Everything that is wrong with them, one by one. */
  readonly findMistakes?: (input: Record<string, unknown>) => readonly Mistake[]
  /**
   * Finds the thing that a call with these arguments is really about: it is checked, counted and audited in place of
   * the tool, and its item answers. Undefined where the arguments name nothing.
   */
  readonly targetOf?: ((input: Record<string, unknown>, call: Call) => Target<Tool> | undefined) | undefined
  /**
   * The arguments of a call as the tool itself knows them, where an operator overrides some; with a second argument,
   * that stands in place of each value that is fixed. Throws for arguments that callers do not have.
   */
  readonly toOwnArguments?: ((given: Params, inPlace?: unknown) => Params) | undefined
  /** True for the tools by which others are found and called. */
  readonly ofSearch?: boolean
  /**
   * The params of the call that one of this tool stands for; undefined where it is a call of the tool itself. The other
   * call is made in its place.
   */
  readonly standsFor?: (params: Params) => Params | undefined
  /** The definition that a caller gets which may not know all that `listed` says. */
  readonly listedFor?: (identity: Identity) => Record<string, unknown>
  /** Calls the author's `run`. */
  run (input: Record<string, unknown>, call: Call): unknown
  /** Makes the result from what `run` returned. `warn` gets a sentence about a value that JSON loses, once. */
  finish (output: unknown, input: Record<string, unknown>, warn?: (hint: string) => void): CallToolResult
}

const NAME = /^[A-Za-z0-9_.-]{1,128}$/
const MEMBERS = [
  'name', 'title', 'description', 'input', 'output', 'annotations', 'icons', '_meta', 'scopes', 'patience', 'explain',
  'failed', 'text', 'task', 'ui', 'run'
]
const ALIAS = Object.fromEntries([
  ...['inputSchema', 'parameters', 'schema'].map(name => [name, 'input']),
  ['outputSchema', 'output'],
  ...['handler', 'execute', 'call'].map(name => [name, 'run'])
]) as Record<string, string>
const NO_INPUT = { type: 'object', properties: {}, additionalProperties: false }

// There are clients that look into `required` without asking whether it is there.
const listedInput = (input: Schema): object => ({ required: [], ...input })

/** Describes a tool. Mistakes in it (its name, its schemas) throw here, not when it is called. */
export function tool<I extends AnySchema = Record<never, never>, O extends AnySchema | undefined = undefined> (
  definition: ToolDefinition<I, O>
): Tool<Unparsed<I>, StructuredOutput<O>> {
  const {
    name, input = NO_INPUT, output, run, failed, text: render, scopes, patience, task, ui,
    explain = (_given, why) => `arguments of ${name}: ${why}`, ...rest
  } = definition
  const what = checkName('tool', name, NAME, '1 to 128 of A-Z a-z 0-9 _ . -')
  checkMembers(what, definition, MEMBERS, ALIAS)
  checkScopes(what, definition)
  checkPart(what, definition, 'description', 'string')
  checkPart(what, definition, 'run', 'function')
  checkFunctions(what, definition, ['explain', 'failed', 'text'])
  if (!isPatience(patience)) throw new Error(`${what}: "patience" ${PATIENCE_SHAPE}`)
  return inContext(what, () => {
    const ofTask = taskMembers(task)
    const inputSchema = inputOf(input)
    const outputSchema = output === undefined ? undefined : inContext('output', () => jsonSchemaOf(output, 'output'))
    const check = compileForAll(inputSchema)
    const schemas = { inputSchema: listedInput(inputSchema), ...(outputSchema && { outputSchema }) }
    const listed = { name, ...rest, ...withToolUi(ui, rest._meta), ...schemas, ...ofTask.listed }
    const checkOutput = outputSchema === undefined ? undefined : compile(outputSchema)
    const refuse = (why: string): Error =>
      new Error(`tool "${name}" returned what its output schema does not allow: ${why}`)
    const hint = hinter()
    return withParsers(
      {
        kind: 'tool',
        scopes,
        name,
        ...withPatience(listed, patience),
        ...ofTask.tool,
        mirrors: mirrorsOf(inputSchema),
        checkInput: given => {
          const wrong = check(given)
          return wrong === undefined ? undefined : explain(given as Record<string, unknown>, wrong.text)
        },
        findMistakes: given => check(given)?.mistakes ?? [],
        run: (given, call) => run(given as Typed<I>, call),
        finish: (value, given, warn) => {
          checkLengths(value)
          const lost = warn && hint(value)
          if (lost !== undefined) warn?.(`tool "${name}" returned ${lost}`)
          const wrong = checkOutput?.(value)
          if (wrong !== undefined) throw refuse(wrong)
          const text = render && (() => render(value as ParsedOutput<O>, given as Typed<I>))
          const result = toResult(value, checkOutput !== undefined, text)
          return failed?.(value as ParsedOutput<O>) === true ? { ...result, isError: true } : result
        }
      },
      isStandardSchema(input)
        ? parserOf(input, ({ text, mistakes }, given) =>
          errors.wrongArguments(explain(given as Record<string, unknown>, text), mistakes)
        )
        : undefined,
      isStandardSchema(output) ? parserOf(output, ({ text }) => refuse(text)) : undefined
    )
  })
}

/** The result of a tool after its output schema parsed it, with the arguments as `run` got them. */
class Parsed {
  constructor (readonly output: unknown, readonly input: Record<string, unknown>) {}
}

/** The tool with the parsers of its schemas, if it has any, around `run`. */
function withParsers<I, O> (
  tool: Tool<I, O>,
  parseInput: Parse | undefined,
  parseOutput: Parse | undefined
): Tool<I, O> {
  if (parseInput === undefined && parseOutput === undefined) return tool
  return {
    ...tool,
    run: (given, call) =>
      chain(parseInput === undefined ? given : parseInput(given), input => {
        // The call may have been given up while the schema was waiting for something.
        if (call.response.isClosed) call.signal.throwIfAborted()
        return chain(tool.run(input as Record<string, unknown>, call), value => {
          checkLengths(value)
          return chain(
            parseOutput === undefined ? value : parseOutput(value),
            output => new Parsed(output, input as Record<string, unknown>)
          )
        })
      }),
    finish: (value, given, warn) =>
      value instanceof Parsed ? tool.finish(value.output, value.input, warn) : tool.finish(value, given, warn)
  }
}

function inputOf (input: AnySchema): Schema {
  const schema = inContext('input', () => jsonSchemaOf(input, 'input'))
  if ((schema as Record<string, unknown>).type === 'object') return schema
  const isShape = Object.keys(schema).length > 0 && Object.values(schema).every(part => isObject(part))
  throw new Error(
    `input must be a schema of type object${isShape ? '; wrap the properties in Type.Object({ ... })' : ''}`
  )
}

function inContext<T> (what: string, make: () => T): T {
  try {
    return make()
  } catch (error) {
    throw new Error(`${what}: ${(error as Error).message}`, { cause: error })
  }
}
