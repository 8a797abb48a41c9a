import type { Call } from '../../../protocol/dispatch/call.js'
import type { Prompt, PromptResult } from '../../../protocol/definitions/prompt.js'
import type { Relayed } from '../../../protocol/definitions/common-members.js'
import { withPatience, type Patience } from '../../../protocol/definitions/patience.js'
import { withTask, type TaskUse } from '../../../protocol/definitions/task-use.js'
import { withResults, type ResultOptions } from '../../../protocol/definitions/result-options.js'
import type { Tool } from '../../../protocol/definitions/tool.js'
import { mirrorParams, mirrorsOf, type Mirror } from '../../../protocol/http/mirrored-headers.js'
import type { CallToolResult } from '../../../protocol/wire/content.js'
import type { Schema } from '../../../protocol/schema/schema.js'
import type { Identity } from '../../../protocol/wire/identity.js'
import { isObject } from '../../../protocol/wire/json.js'
import type { Params } from '../../../protocol/wire/jsonrpc.js'
import type { Entry } from '../reading/kinds.js'
import type { Owner } from './merged-list.js'
import type { RelayOptions } from '../../relay/relay-request.js'
import { namingTool } from '../../relay/relayed-params.js'
import type { PublicName } from './names.js'

/** The upstream that definitions come from. */
export interface Origin extends Owner {
  readonly scopes: readonly string[] | undefined
  /** How much of the results of its tools clients get. */
  readonly results?: ResultOptions | undefined
  /** How long clients wait for its tools before they are answered early. */
  readonly patience?: Patience | undefined
  /** How calls of its tools become tasks, where the operator says. */
  readonly task?: TaskUse | undefined
  /** True where it may answer a call with a task, as its lists that are offered next say. */
  hasTasks?: boolean
  /** True where clients get what was accepted, and not what the upstream offers now. */
  readonly isHeld: boolean
  /** False for a URI that belongs to another upstream, whatever templates match it. */
  mayHave (uri: string): boolean
  /** The URI by which clients read a page of its tools: its own, or one with the alias where that leads elsewhere. */
  pageUri (uri: string): string
  /** Sends a client's request to the upstream. */
  relay (method: string, params: Params, call: Call, options?: RelayOptions): Promise<Record<string, unknown>>
  /** Lets a caller read these resources, which no list has. */
  noteUris (call: Call, uris: readonly string[]): void
  /** A tool as it is listed now, after the list was read again. */
  relist (name: string): Promise<Entry | undefined>
  /** Relays `completion/complete`, where the upstream has it. */
  complete (params: Params, call: Call): Promise<Record<string, unknown>>
  /** Watches a resource of the upstream on behalf of a caller; resolves to how to stop. */
  watch (uri: string, changed: () => void, identity: Identity): Promise<() => void>
}

/** A tool of an upstream under a name of ours, as it is `listed`. Its schemas are never compiled. */
export function relayedTool (origin: Origin, entry: Entry, listed: Entry, name: PublicName): Tool {
  const original = entry.name as string
  // Most tools of a long list are never called.
  const mirrored = lazily(() => mirrorsIn(entry.inputSchema))
  const mirroredByClients = entry === listed ? mirrored : lazily(() => mirrorsIn(listed.inputSchema))
  const support = isObject(entry.execution) ? entry.execution.taskSupport : undefined
  const relay: Relayed['relay'] = (params, call) =>
    origin.relay('tools/call', namingTool(original, params), call, {
      headers: headersOf(mirrored(), params),
      renewHeaders: async () => headersOf(mirrorsIn((await origin.relist(original))?.inputSchema), params) ?? {},
      asTask: support === 'required' || (support === 'optional' && call.task?.runs === true)
    })
  const common = relayedAs(origin, listed, name)
  const smaller = withResults(common, { server: origin.results })
  const patient = withPatience(smaller.listed ?? common.listed, origin.patience)
  return {
    ...common,
    ...smaller,
    ...patient,
    ...withTask(patient.listed, origin.task ?? taskUseOf(support, origin)),
    kind: 'tool',
    get mirrors () { return mirroredByClients() },
    checkInput: acceptAll,
    relay,
    run: (input, call) => relay({ arguments: input }, call),
    finish: asResult
  }
}

/** Where the server makes tasks of calls, clients that know tasks get them, and others wait. */
function taskUseOf (support: unknown, { hasTasks }: Origin): TaskUse | undefined {
  if (support === 'optional' || support === 'required') return 'may'
  return support === undefined && hasTasks === true ? 'may' : undefined
}

/** A prompt of an upstream under a name of ours. */
export function relayedPrompt (origin: Origin, listed: Entry, name: PublicName): Prompt {
  const original = listed.name as string
  const relay: Relayed['relay'] = (params, call) => origin.relay('prompts/get', { ...params, name: original }, call)
  return {
    ...relayedAs(origin, listed, name),
    kind: 'prompt',
    required: [],
    arguments: [],
    complete: {},
    relay,
    relayCompletion: (params, call) => origin.complete({ ...params, ref: { ...refOf(params), name: original } }, call),
    get: async (given, call) => await relay({ arguments: given }, call) as unknown as PromptResult
  }
}

function lazily<T> (make: () => T): () => T {
  let made: T | undefined
  return () => {
    made ??= make()
    return made
  }
}

/** The common part of tools and prompts. */
function relayedAs (
  { scopes, alias }: Origin,
  entry: Entry,
  { name, spellings, accessName, scopeNames = [name, ...spellings], ownName = entry.name as string }: PublicName
) {
  return {
    scopes,
    name,
    ownName,
    spellings,
    accessName,
    scopeNames,
    upstream: alias,
    listed: { ...entry, name }
  }
}

const acceptAll = (): undefined => undefined
const asResult = (output: unknown): CallToolResult => output as CallToolResult

export const refOf = ({ ref }: Params): Record<string, unknown> => isObject(ref) ? ref : {}

/**
 * An annotation that is not valid is no concern of ours: the upstream is not reached over HTTP, or was found to have
 * none.
 */
function mirrorsIn (inputSchema: unknown): Mirror[] {
  try {
    return mirrorsOf(inputSchema as Schema)
  } catch {
    return []
  }
}

function headersOf (mirrors: Mirror[], { arguments: args }: Params): Record<string, string> | undefined {
  return mirrors.length === 0 || !isObject(args) ? undefined : mirrorParams(mirrors, args)
}
