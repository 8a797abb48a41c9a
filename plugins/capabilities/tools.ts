import { Type } from '@sinclair/typebox'
import fp from 'fastify-plugin'
import type { Call } from '../../protocol/dispatch/call.js'
import { Collection } from '../../protocol/definitions/collection.js'
import { registryOf, type Registry } from '../../protocol/definitions/definition-registry.js'
import { text, type CallToolResult } from '../../protocol/wire/content.js'
import {
  errors,
  isAboutRequest,
  isErrorCode,
  isMcpError,
  isToolError,
  type McpError
} from '../../protocol/wire/errors.js'
import { explosivePatterns } from '../../lib/patterns/explosive-pattern.js'
import { isObject } from '../../protocol/wire/json.js'
import type { Params } from '../../protocol/wire/jsonrpc.js'
import { checkHeaders } from '../../protocol/http/mirrored-headers.js'
import type { Relay } from '../../protocol/definitions/common-members.js'
import { isThenable } from '../../protocol/wire/result.js'
import { convert } from '../../protocol/revisions/convert.js'
import { relayed } from '../../protocol/revisions/relayed.js'
import type { Tool } from '../../protocol/definitions/tool.js'
import type { Target } from '../../protocol/dispatch/target.js'
import { IndirectCalls } from './tools/indirect-calls.js'
import { MissingTools, type ExplainMissing } from './tools/missing-tools.js'

declare module '../core/mcp.js' {
  interface Mcp {
    /** The tools of every transport. Adding or removing one is announced to all clients. */
    tools: ToolRegistry
  }
}

declare module '../core/views.js' {
  interface View {
    readonly tools: Registry<Tool>
  }
}

const EXPLOSIVE =
  'a pattern in the input of a tool can take for ever on some texts, and everything waits meanwhile: avoid repetitions inside repetitions (docs/write-a-tool.md)'
/** The member of `_meta` in a failed result that has what `data` of the JSON-RPC error would have. */
const REASON = 'patchbay/error'

const LIST_CHANGED = 'notifications/tools/list_changed'
type Warn = (sentence: string) => void

export interface ToolRegistry extends Registry<Tool> {
  /** Sets the function that finds a tool which an upstream has and clients do not get, with the reason. */
  explainMissingWith: (explain: ExplainMissing) => void
  /** Sets the function that finishes the results of tools that have options for them. */
  finishResultsWith: (finish: FinishResult) => void
  /** Sets the function that is told of each call of a tool with patience, before it runs. */
  watchWith: (watch: WatchCall) => void
}

/** Makes what a client gets of the result of a tool, in the newest vocabulary. */
export type FinishResult = (result: Result, tool: Tool, call: Call) => Promise<Result>
type WatchCall = (tool: Tool, call: Call) => void
type Result = Record<string, unknown>

const CallParams = Type.Object({
  name: Type.String(),
  arguments: Type.Optional(Type.Unsafe<Params>({ type: 'object' }))
})

export default fp(async ({ mcp, log }) => {
  const { dispatcher, scopes } = mcp
  const parts = mcp.views.divide('tools', view => {
    const tools = new Collection<Tool>('tool', dispatcher.observers.reporter('tools'))
    mcp.announce({ onChange: listener => tools.onPages(listener) }, LIST_CHANGED, of => of === view)
    return {
      tools,
      listing: scopes.listing('tools', tools),
      registry: registryOf('tool', tools),
      clear: () => tools.clear()
    }
  })
  const { registry } = parts.whole
  const warn = (sentence: string): void => log.warn(sentence)
  const missing = new MissingTools(mcp)
  const indirect = new IndirectCalls(scopes)
  let finishResult: FinishResult = async result => result
  let watchCall: WatchCall = () => {}

  mcp.provide('tools', {
    ...registry,
    explainMissingWith: explain => { missing.explain = explain },
    finishResultsWith: finish => { finishResult = finish },
    watchWith: watch => { watchCall = watch },
    add: tool => {
      registry.add(tool)
      warnOfPatterns(tool, log)
    },
    replace: tool => {
      registry.replace(tool)
      warnOfPatterns(tool, log)
    }
  })
  mcp.announce(scopes, LIST_CHANGED, () => true)
  mcp.paginate('tools/list', 'tools', view => parts.of(view).listing)
  dispatcher.capabilities.declare('tools', () => ({ listChanged: true }))

  mcp.method('tools/call', CallParams, ({ name, arguments: args = {} }, call, found: Tool | undefined) => {
    if (found === undefined) throw missing.errorOf(name, call, parts.of(call.peer.view).tools)
    const tool = call.peer.view === undefined ? found : asCalled(found, call.peer.view)
    if (call.revision.stateless && call.peer.headers !== undefined) {
      checkHeaders.params(call.peer.headers, indirect.mirrorsOf(tool, call), args)
    }
    if (tool.patience !== undefined) watchCall(tool, call)
    if (tool.results !== undefined) return runAndFinish(tool, args, call, warn, finishResult)
    return tool.relay === undefined ? run(tool, args, call, warn) : relay(tool.relay, call)
  }, {
    target: ({ name }, call) => {
      const target = scopes.targetIn('tools', parts.of(call.peer.view).tools, name, call)
      return indirect.targetOf(onlyReading(target, call), call) ?? missing.targetOf(name, call)
    },
    meant: (params, caller) => indirect.meantBy(params, parts.of(caller.peer.view).tools, caller),
    unknown: ({ name }, call) => missing.errorOf(String(name), call, parts.of(call.peer.view).tools)
  })

  function asCalled (tool: Tool, view: string): Tool {
    return mcp.views.get(view)?.selection?.asCalled?.(tool) ?? tool
  }
}, { name: 'patchbay-tools', dependencies: ['patchbay-mcp', 'patchbay-pagination', 'patchbay-scopes', 'patchbay-subscriptions', 'patchbay-views'] })

function warnOfPatterns ({ name, listed }: Tool, log: { warn (data: object, text: string): void }): void {
  for (const pattern of explosivePatterns(listed.inputSchema)) log.warn({ tool: name, pattern }, EXPLOSIVE)
}

/** The target of a call, which is refused where only tools that say that they only read may run. */
function onlyReading (target: Target<Tool> | undefined, { channel }: Call): Target<Tool> | undefined {
  if (target?.item === undefined || channel.onlyReads !== true) return target
  const { name, listed: { annotations } } = target.item
  const isReadOnly = isObject(annotations) && annotations['readOnlyHint'] === true
  return isReadOnly ? target : { ...target, leftOut: () => errors.notReadOnly(name) }
}

async function relay (request: Relay, call: Call): Promise<object> {
  return relayed.callResult(await request(call.params, call), call.revision)
}

async function runAndFinish (tool: Tool, args: Params, call: Call, warn: Warn, finish: FinishResult): Promise<object> {
  if (tool.relay !== undefined) {
    return relayed.callResult(await finish(await tool.relay(call.params, call), tool, call), call.revision)
  }
  const result = { ...await resultOf(tool, args, call, warn) }
  return toWireResult(await finish(result, tool, call) as unknown as CallToolResult, call)
}

/** The result of a local tool, before it is in the form of the client's revision. */
async function resultOf (tool: Tool, args: Params, call: Call, warn: Warn): Promise<CallToolResult> {
  try {
    const wrong = tool.checkInput(args)
    if (wrong !== undefined) throw errors.wrongArguments(wrong, tool.findMistakes?.(args))
    return tool.finish(await tool.run(args, call), args, warn)
  } catch (error) {
    return toErrorResult(error, call)
  }
}

// A result that is there at once is returned at once, and a promise is awaited in one step: each further promise would
// cost a call a turn.
function run (tool: Tool, args: Params, call: Call, warn: Warn): CallToolResult | Promise<CallToolResult> {
  try {
    const wrong = tool.checkInput(args)
    if (wrong !== undefined) throw errors.wrongArguments(wrong, tool.findMistakes?.(args))
    const output = tool.run(args, call)
    return isThenable(output)
      ? afterPromise(tool, output, args, call, warn)
      : toWireResult(tool.finish(output, args, warn), call)
  } catch (error) {
    return toWireResult(toErrorResult(error, call), call)
  }
}

function afterPromise (
  tool: Tool,
  output: PromiseLike<unknown>,
  args: Params,
  call: Call,
  warn: Warn
): Promise<CallToolResult> {
  return Promise.resolve(output).then(
    value => afterRun(tool, value, args, call, warn),
    error => toWireResult(toErrorResult(error, call), call)
  )
}

function afterRun (tool: Tool, output: unknown, args: Params, call: Call, warn: Warn): CallToolResult {
  try {
    return toWireResult(tool.finish(output, args, warn), call)
  } catch (error) {
    return toWireResult(toErrorResult(error, call), call)
  }
}

/** The result in the form of the client's revision. */
function toWireResult (result: CallToolResult, { revision }: Call): CallToolResult {
  return convert.callResult(revision.errorsAsResults ? withOutcome(result) : result, revision.features)
}

// Most results have `content` alone: a literal of known members saves V8 1.3 µs against a spread, 8 % of a WebSocket
// call.
function withOutcome (result: CallToolResult): CallToolResult {
  if (typeof result.isError === 'boolean' && Object.hasOwn(result, 'isError')) return result
  for (const member in result) if (member !== 'content') return { ...result, isError: result.isError ?? false }
  return { content: result.content, isError: result.isError ?? false }
}

/** An `isError` result for a failure of the tool. Throws what is an error of the request, or ours. */
function toErrorResult (error: unknown, call: Call): CallToolResult {
  if (isToolError(error)) return failure(error.message)
  if (isMcpError(error) && call.revision.errorsAsResults && !isAboutRequest(error)) {
    return { ...failure(textOf(error)), ...reasonOf(error) }
  }
  throw error
}

const failure = (why: string): CallToolResult => ({ content: [text(why)], isError: true })

/**
 * The data of an error of ours besides its text, which a result has in `_meta`. The data of an error of an author is
 * left out.
 */
function reasonOf ({ data }: McpError): { _meta?: object } {
  if (!isObject(data) || !isErrorCode(data.code)) return {}
  const { details, hint, ...reason } = data
  return { _meta: { [REASON]: reason } }
}

/** The text of an error with its `details` and `hint`: a result has no place for the data of an error. */
function textOf ({ message, data }: McpError): string {
  const { details, hint } = isObject(data) ? data : {}
  const sentence = isNews(details, message) ? `${message}: ${details}` : message
  return isNews(hint, sentence) ? `${sentence}. ${hint}` : sentence
}

const isNews = (part: unknown, sentence: string): part is string => typeof part === 'string' && !sentence.includes(part)
