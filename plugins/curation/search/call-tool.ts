import { errors, shorten } from '../../../protocol/wire/errors.js'
import { isObject } from '../../../protocol/wire/json.js'
import type { Params } from '../../../protocol/wire/jsonrpc.js'

/** The tool that calls others. */
export const CALL_TOOL = 'call_tool'

/** Other names for the member `name` that models use. */
const NAMES = ['name', 'tool_name', 'toolName', 'tool']

/**
 * The params of the call that one of `call_tool` stands for: those of a client that calls the inner tool by itself.
 * Undefined where they have another form, and for a call of `call_tool` by itself; then `call_tool` says what is wrong.
 */
export function indirectCall (params: Params): Params | undefined {
  const { arguments: given } = params
  if (!isObject(given)) return undefined
  const { name, arguments: args, ...rest } = given
  if (typeof name !== 'string' || name === CALL_TOOL || Object.keys(rest).length > 0) return undefined
  const inner = args ?? {}
  return isObject(inner) ? { ...params, name, arguments: inner } : undefined
}

/** Says what is wrong with the arguments of `call_tool`, and shows the right form. */
export function correctForm (given: Record<string, unknown>): string {
  const { name, arguments: args, ...rest } = given
  const inner = isObject(args) ? args : {}
  if (name === CALL_TOOL) return `${CALL_TOOL} cannot call itself; ${show(nameIn(inner))}`
  if (typeof name !== 'string') {
    const found = nameIn(inner) ?? nameIn(rest)
    if (found === undefined) return `${CALL_TOOL} needs the name of the tool to call; ${show(undefined)}`
    return `the name of the tool to call is not in its place; ${show(found)}`
  }
  const others = Object.keys(rest)
  if (others.length > 0) {
    const listed = others.slice(0, 5).map(each => `"${shorten(each)}"`).join(', ')
    return `${listed} of the tool "${shorten(name)}" go into "arguments"; ${show(name)}`
  }
  return `"arguments" has to be an object, with the arguments of the tool "${shorten(name)}"; ${show(name)}`
}

/** The error for a call of `call_tool` that calls nothing. */
export const wrongForm = (given: Record<string, unknown>): Error => errors.wrongArguments(correctForm(given))

const nameIn = (given: Record<string, unknown>): string | undefined =>
  NAMES.map(member => given[member]).find((name): name is string => typeof name === 'string' && name !== CALL_TOOL)

const show = (name: string | undefined): string =>
  `call it with { "name": ${JSON.stringify(shorten(name ?? 'NAME'))}, "arguments": { … } }`
