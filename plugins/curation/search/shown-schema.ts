import type { Relay } from '../../../protocol/definitions/common-members.js'
import type { Tool } from '../../../protocol/definitions/tool.js'
import { text } from '../../../protocol/wire/content.js'
import { codes, isErrorCode, isMcpError, withSentence, type McpError } from '../../../protocol/wire/errors.js'
import { isObject } from '../../../protocol/wire/json.js'
import type { Params } from '../../../protocol/wire/jsonrpc.js'
import { isThenable } from '../../../protocol/wire/result.js'

/** The longest schema that an error has, as JSON. */
const MAX_SCHEMA = 8_000

const made = new WeakMap<Tool, Tool>()

/**
 * The tool, whose answers to wrong arguments have its input schema: a client of a search view may not have seen it. An
 * upstream checks arguments itself; what it says is passed on, and the schema follows.
 */
export function showSchema (tool: Tool): Tool {
  const known = made.get(tool)
  if (known !== undefined) return known
  const shown = tool.ofSearch === true ? tool : withSchemaInErrors(tool)
  made.set(tool, shown)
  return shown
}

function withSchemaInErrors (tool: Tool): Tool {
  const { checkInput, relay } = tool
  return {
    ...tool,
    checkInput: given => {
      const wrong = checkInput(given)
      return wrong === undefined ? undefined : `${wrong}. ${schemaOf(tool)}`
    },
    ...(relay === undefined ? { run: showInRun(tool) } : { relay: showInRelay(tool, relay) })
  }
}

/** A schema of the Standard Schema family refuses arguments while the tool runs. */
function showInRun (tool: Tool): Tool['run'] {
  const amend = (error: unknown): never => {
    throw isMcpError(error) && isObject(error.data) && error.data.code === WRONG_ARGUMENTS
      ? withSentence(error, schemaOf(tool))
      : error
  }
  return (input, call) => {
    try {
      const output = tool.run(input, call)
      return isThenable(output) ? Promise.resolve(output).catch(amend) : output
    } catch (error) {
      return amend(error)
    }
  }
}

function showInRelay (tool: Tool, relay: Relay): Relay {
  return async (params, call) => {
    const result = await relay(params, call).catch((error: unknown): never => {
      throw isMcpError(error) && refusesArguments(error) ? withSentence(error, schemaOf(tool)) : error
    })
    const { isError, content } = result
    return isError === true && Array.isArray(content) && isAboutArguments(content, params, tool)
      ? { ...result, content: [...content, text(schemaOf(tool))] }
      : result
  }
}

const WRONG_ARGUMENTS = 'PATCHBAY_WRONG_ARGUMENTS'

/** Errors of this gateway about something else have the same code. */
function refusesArguments ({ code, data }: McpError): boolean {
  if (code !== codes.invalidParams) return false
  const name = isObject(data) ? data.code : undefined
  return !isErrorCode(name) || name === WRONG_ARGUMENTS
}

/** Servers of the official SDKs put the code of the error into the text of a failed result. */
function isAboutArguments (content: unknown[], { arguments: args }: Params, { listed }: Tool): boolean {
  const [first] = content
  const says = isObject(first) && typeof first.text === 'string' && first.text.slice(0, 200).includes('-32602')
  return says || (isObject(listed.inputSchema) && misses(listed.inputSchema, isObject(args) ? args : {}))
}

/** True when arguments lack something that is required, or have something that is not known. */
function misses ({ required, properties, additionalProperties }: Record<string, unknown>, args: Params): boolean {
  if (Array.isArray(required) && required.some(name => typeof name === 'string' && !Object.hasOwn(args, name))) {
    return true
  }
  const known = isObject(properties) ? properties : {}
  return additionalProperties === false && Object.keys(args).some(name => !Object.hasOwn(known, name))
}

function schemaOf ({ name, listed: { inputSchema } }: Tool): string {
  const json = JSON.stringify(inputSchema ?? {})
  return json.length > MAX_SCHEMA
    ? `describe_tools shows the input schema of ${name}`
    : `The input schema of ${name}: ${json}`
}
