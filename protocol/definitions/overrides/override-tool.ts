import { didYouMean } from '../../../lib/nearest-name.js'
import type { Call } from '../../dispatch/call.js'
import { mirrorsOf, type Mirror } from '../../http/mirrored-headers.js'
import { segment } from '../../schema/mistakes.js'
import { compileForAll, type CheckAll, type Schema } from '../../schema/schema.js'
import { isObject } from '../../wire/json.js'
import type { Params } from '../../wire/jsonrpc.js'
import { isThenable } from '../../wire/result.js'
import type { Relay } from '../common-members.js'
import { derive } from '../derive.js'
import { withPatience } from '../patience.js'
import { withTask } from '../task-use.js'
import { withResults } from '../result-options.js'
import type { Tool } from '../tool.js'
import { ArgumentMap, changesOf, withoutClashes } from './argument-map.js'
import { listedSchema, type ListedSchema } from './listed-schema.js'
import type { ToolOverride } from './override.js'

/** The member of `_meta` that says what was repaired in a tool, in sentences that begin with a JSON pointer. */
const CHANGED = 'patchbay/changed'

/**
 * A tool as its callers see it, called `name`: an override changes its texts and hints, and the names and values of its
 * arguments, which are taken back to those of the tool before it runs. Everything else is that of the tool, which is
 * its `original`. The name in the override is not looked at.
 */
export function overrideTool (tool: Tool, override: ToolOverride, name = tool.name): Tool {
  const { title, description, annotations, _meta, arguments: args = {} } = override
  const smaller = withResults(tool, { tool: override.results })
  const patient = withPatience(smaller.listed ?? tool.listed, override.patience)
  const changes = { ...smaller, ...patient, ...withTask(patient.listed, override.task) }
  const listed: Tool['listed'] = {
    ...(changes.listed ?? tool.listed),
    name,
    ...(title !== undefined && { title }),
    ...(description !== undefined && { description }),
    ...(annotations !== undefined && { annotations: { ...Object(tool.listed.annotations) as object, ...annotations } }),
    ...(_meta !== undefined && { _meta: { ...Object(tool.listed._meta) as object, ..._meta } })
  }
  if (Object.keys(args).length === 0) {
    const original = { tool, override, problems: [] }
    return derive(tool, { ...changes, name, listed, original, ...renameCheck(tool, name) })
  }
  const { listing, map, problems } = argumentsOf(tool, args)
  listed.inputSchema = listing.schema
  const meta = withoutHidden(listed._meta, args)
  if (meta !== undefined) listed._meta = meta
  let mirrors: Mirror[] | undefined
  return derive(tool, {
    ...changes,
    name,
    listed,
    original: { tool, override, problems },
    get mirrors () { return (mirrors ??= mirrorsIn(listing.schema)) },
    toOwnArguments: (given, inPlace) => {
      const own = map.toOwn(given, inPlace)
      return tool.toOwnArguments?.(own, inPlace) ?? own
    },
    ...(tool.relay === undefined ? mapRun(tool, map, listing.schema, name) : mapRelay(tool.relay, map))
  })
}

/** The schema that callers see, how their arguments become those of the tool, and what is odd about it. */
function argumentsOf (
  { listed: { inputSchema } }: Tool,
  args: NonNullable<ToolOverride['arguments']>
): { listing: ListedSchema, map: ArgumentMap, problems: string[] } {
  const schema = isObject(inputSchema) ? inputSchema : { type: 'object' }
  const wanted = changesOf(args)
  const { names } = listedSchema(schema, wanted)
  const { changes, problems } = withoutClashes(wanted, names)
  const listing = listedSchema(schema, changes)
  const unknown = names.size === 0 ? [] : Object.keys(args).filter(name => !names.has(name))
  return {
    listing,
    map: new ArgumentMap(changes),
    problems: [
      ...problems,
      ...(listing.isCut ? ['the references of its schema lead to too many others; callers see none of its cases'] : []),
      ...unknown.map(name => `arguments has "${name}", which is none of its arguments${didYouMean(name, names)}`),
      ...[...listing.misfits].map(name => `the value for the argument "${name}" is none that the tool allows`)
    ]
  }
}

/** Without the sentences about arguments that callers do not see. */
function withoutHidden (meta: unknown, args: NonNullable<ToolOverride['arguments']>): object | undefined {
  if (!isObject(meta) || !Array.isArray(meta[CHANGED])) return undefined
  const hidden = Object.keys(args)
    .filter(name => args[name]?.value !== undefined)
    .map(name => `/properties${segment(name)}`)
  const isHidden = (sentence: unknown): boolean =>
    hidden.some(pointer => ['/', ':', ' '].some(end => String(sentence).includes(pointer + end)))
  return { ...meta, [CHANGED]: meta[CHANGED].filter(sentence => !isHidden(sentence)) }
}

function mirrorsIn (schema: Schema): Mirror[] {
  try {
    return mirrorsOf(schema)
  } catch {
    return []
  }
}

/** The members of a tool of an upstream that have to do with arguments. */
function mapRelay (base: Relay, map: ArgumentMap): Partial<Tool> {
  const relay: Relay = async (params, call) => {
    const own = map.toOwn(isObject(params.arguments) ? params.arguments : {})
    try {
      return await base({ ...params, arguments: own }, call)
    } catch (error) {
      throw map.toCallers(error)
    }
  }
  return { relay, run: (input, call) => relay({ arguments: input }, call) }
}

/** The check of a local tool, whose sentences begin with its name. */
function renameCheck ({ name: own, relay, checkInput }: Tool, name: string): Partial<Tool> {
  if (relay !== undefined || name === own) return {}
  const start = `arguments of ${own}: `
  return {
    checkInput: given => {
      const wrong = checkInput(given)
      return wrong?.startsWith(start) === true ? `arguments of ${name}: ${wrong.slice(start.length)}` : wrong
    }
  }
}

const UNFIT = 'what the operator of this gateway set does not fit the tool'

/** The members of a local tool that have to do with arguments. Callers are told of mistakes in the names they know. */
function mapRun (tool: Tool, map: ArgumentMap, schema: Schema, name: string): Partial<Tool> {
  let check: CheckAll | undefined
  const find: CheckAll = given => (check ??= compileForAll(schema))(given)
  const own = new WeakMap<Params, Params>()
  const toOwn = (given: Params): Params => {
    const known = own.get(given) ?? map.toOwn(given)
    own.set(given, known)
    return known
  }
  const fail = (error: unknown): never => { throw map.toCallers(error) }
  return {
    checkInput: given => {
      const args = toOwn(given as Params)
      const wrong = find(given)
      if (wrong !== undefined) return `arguments of ${name}: ${wrong.text}`
      return tool.checkInput(args) === undefined ? undefined : `arguments of ${name}: ${UNFIT}`
    },
    findMistakes: given => find(given)?.mistakes ?? [],
    run: (given, call: Call) => {
      const output = tool.run(toOwn(given), call)
      return isThenable(output) ? Promise.resolve(output).then(undefined, fail) : output
    },
    finish: (output, given, warn) => tool.finish(output, toOwn(given), warn)
  }
}
