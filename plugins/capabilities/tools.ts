import { Type } from '@sinclair/typebox'
import fp from 'fastify-plugin'
import type { Call } from '../../protocol/dispatch/call.js'
import { Collection } from '../../protocol/definitions/collection.js'
import { text, type CallToolResult } from '../../protocol/wire/content.js'
import { errors, isAboutRequest, isMcpError, isToolError, type McpError } from '../../protocol/wire/errors.js'
import { explosivePatterns } from '../../lib/patterns/explosive-pattern.js'
import { isObject } from '../../protocol/wire/json.js'
import type { Params } from '../../protocol/wire/jsonrpc.js'
import { checkHeaders } from '../../protocol/http/mirrored-headers.js'
import { isThenable } from '../../protocol/wire/result.js'
import { convert } from '../../protocol/revisions/convert.js'
import type { Tool } from '../../protocol/definitions/tool.js'

declare module '../core/mcp.js' {
  interface Mcp {
    /** The tools of every transport. Adding or removing one is announced to all clients. */
    tools: { add: (tool: Tool) => void, remove: (name: string) => boolean, get: (name: string) => Tool | undefined, names: () => string[] }
  }
}

const EXPLOSIVE = 'a pattern in the input of a tool can take for ever on some texts, and everything waits meanwhile: avoid repetitions inside repetitions (docs/write-a-tool.md)'
const CallParams = Type.Object({ name: Type.String(), arguments: Type.Optional(Type.Unsafe<Params>({ type: 'object' })) })

export default fp(async fastify => {
  const { mcp, mcp: { scopes } } = fastify
  const tools = new Collection<Tool>('tool', mcp.dispatcher.observers.reporter('tools'))

  fastify.mcp.provide('tools', {
    add: tool => {
      if (tool?.kind !== 'tool') throw new Error('tools.add takes what tool({ ... }) returns')
      tools.add(tool.name, tool)
      for (const pattern of explosivePatterns(tool.listed.inputSchema)) fastify.log.warn({ tool: tool.name, pattern }, EXPLOSIVE)
    },
    remove: name => tools.remove(name),
    get: name => tools.get(name),
    names: () => tools.keys()
  })
  for (const source of [tools, scopes]) fastify.mcp.announce(source, 'notifications/tools/list_changed')
  fastify.mcp.paginate('tools/list', 'tools', scopes.listing('tools', tools))
  mcp.dispatcher.capabilities.declare('tools', () => ({ listChanged: true }))

  mcp.method('tools/call', CallParams, ({ name, arguments: args = {} }, call, tool: Tool | undefined) => {
    if (tool === undefined) throw errors.unknownTool(name)
    if (call.revision.stateless && call.peer.headers !== undefined) checkHeaders.params(call.peer.headers, tool.mirrors, args)
    return run(tool, args, call)
  }, {
    target: ({ name }) => {
      const tool = typeof name === 'string' ? tools.get(name) : undefined
      return tool && scopes.target('tools', tool.name, tool)
    },
    unknown: ({ name }) => errors.unknownTool(String(name))
  })
}, { name: 'patchbay-tools', dependencies: ['patchbay-mcp', 'patchbay-pagination', 'patchbay-scopes', 'patchbay-subscriptions'] })

// Tools that answer at once are answered at once, and for the others there is one step between their promise and the answer.
function run (tool: Tool, args: Params, call: Call): CallToolResult | Promise<CallToolResult> {
  try {
    const wrong = tool.checkInput(args)
    if (wrong !== undefined) throw errors.invalidParams(wrong)
    const output = tool.run(args, call)
    return isThenable(output) ? later(tool, output, args, call) : said(tool.finish(output, args), call)
  } catch (error) {
    return said(explained(error, call), call)
  }
}

function later (tool: Tool, output: PromiseLike<unknown>, args: Params, call: Call): Promise<CallToolResult> {
  return Promise.resolve(output).then(value => finished(tool, value, args, call), error => said(explained(error, call), call))
}

function finished (tool: Tool, output: unknown, args: Params, call: Call): CallToolResult {
  try {
    return said(tool.finish(output, args), call)
  } catch (error) {
    return said(explained(error, call), call)
  }
}

/** The result as the client's revision says it. */
function said (result: CallToolResult, { revision }: Call): CallToolResult {
  return convert.callResult(revision.errorsAsResults ? withOutcome(result) : result, revision.features)
}

// Made anew member by member where there is only one, as in most: engines are slow at copying what they do not know.
function withOutcome (result: CallToolResult): CallToolResult {
  if (typeof result.isError === 'boolean' && Object.hasOwn(result, 'isError')) return result
  for (const member in result) if (member !== 'content') return { ...result, isError: result.isError ?? false }
  return { content: result.content, isError: result.isError ?? false }
}

/** The result that tells of a failure, where one does; throws what has to be an error. */
function explained (error: unknown, call: Call): CallToolResult {
  if (isToolError(error)) return failure(error.message)
  if (isMcpError(error) && call.revision.errorsAsResults && !isAboutRequest(error)) return failure(inWords(error))
  throw error
}

const failure = (why: string): CallToolResult => ({ content: [text(why)], isError: true })

/** A result has no place for the data of an error, and `details` and `hint` are what helps. */
function inWords ({ message, data }: McpError): string {
  const { details, hint } = isObject(data) ? data : {}
  const said = isNews(details, message) ? `${message}: ${details}` : message
  return isNews(hint, said) ? `${said}. ${hint}` : said
}

const isNews = (part: unknown, said: string): part is string => typeof part === 'string' && !said.includes(part)
