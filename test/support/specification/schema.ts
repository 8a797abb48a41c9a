import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Ajv, type ValidateFunction } from 'ajv'
import { Ajv2020 } from 'ajv/dist/2020.js'
import type { Message } from './message.js'
import { modern as newest, revisions, type Revision } from './revisions.js'

type Definition = Record<string, unknown>
interface Official { engine: Ajv | Ajv2020, definitions: Record<string, Definition>, at: string }

const folder = process.env.MCP_SCHEMA_DIR
const loaded = new Map<string, Official>()

/** True when the official schemas are at hand. */
export const validating = folder !== undefined && folder !== ''

const RESULTS: Record<string, string> = {
  initialize: 'InitializeResult',
  'server/discover': 'DiscoverResult',
  'tools/list': 'ListToolsResult',
  'tools/call': 'CallToolResult',
  'resources/list': 'ListResourcesResult',
  'resources/templates/list': 'ListResourceTemplatesResult',
  'resources/read': 'ReadResourceResult',
  'prompts/list': 'ListPromptsResult',
  'prompts/get': 'GetPromptResult',
  'completion/complete': 'CompleteResult',
  'subscriptions/listen': 'SubscriptionsListenResult'
}

/** Tasks are in one schema; in the stateless revision they are an extension with a text of its own. */
const TASK_RESULTS: Record<string, string> = {
  'tools/call': 'CreateTaskResult',
  'tasks/get': 'GetTaskResult',
  'tasks/result': 'GetTaskPayloadResult',
  'tasks/list': 'ListTasksResult',
  'tasks/cancel': 'CancelTaskResult'
}

const ANSWERS: Record<string, string> = {
  'elicitation/create': 'ElicitResult',
  'sampling/createMessage': 'CreateMessageResult',
  'roots/list': 'ListRootsResult'
}

const ERRORS: Record<number, string> = {
  [-32020]: 'HeaderMismatchError',
  [-32021]: 'MissingRequiredClientCapabilityError',
  [-32022]: 'UnsupportedProtocolVersionError'
}

/** The schemas leave most objects open; of these, a member that is not named would be a leak from a later revision. */
const CLOSED = [
  'Tool',
  'ToolAnnotations',
  'Resource',
  'ResourceTemplate',
  'Prompt',
  'PromptArgument',
  'Annotations',
  'Implementation',
  'ServerCapabilities',
  'TextContent',
  'ImageContent',
  'AudioContent',
  'EmbeddedResource',
  'ResourceLink',
  'TextResourceContents',
  'BlobResourceContents',
  'SamplingMessage',
  'Icon'
]

/**
 * Finds the faults of a message of the server, going by the official schema of the revision; nothing when that is not
 * at hand.
 */
export function schemaFaults (message: Message, { version, modern }: Revision, method?: string): string[] {
  if (!validating) return []
  return kindsOf(message, modern, method).flatMap(([name, value]) => check(official(version), name, value))
}

/**
 * Finds the faults of a message of a client, going by the official schema of the revision; `asked` is the method that a
 * response answers.
 */
export function clientFaults (message: Message, { version }: Revision, asked?: string): string[] {
  if (!validating) return []
  const { id, method, result } = message
  const source = official(version)
  if (method !== undefined) return requestFaults(source, message, method, id === undefined ? 'Notification' : 'Request')
  if (result === undefined) return check(source, 'JSONRPCError', message)
  return [...check(source, 'JSONRPCResponse', message), ...check(source, ANSWERS[asked ?? ''] ?? 'EmptyResult', result)]
}

// The errors of a choice between all requests say little, so they are those of the one request that has this method.
function requestFaults (source: Official, message: Message, method: string, kind: string): string[] {
  const envelope = check(source, `JSONRPC${kind}`, message)
  if (check(source, `Client${kind}`, message).length === 0) return envelope
  const name = Object.keys(source.definitions).find(
    key => key.endsWith(kind) && JSON.stringify(source.definitions[key]).includes(`"method":{"const":"${method}"`)
  )
  return [
    ...envelope,
    `a client must not send this ${method}`,
    ...(name === undefined ? [] : check(source, name, message))
  ]
}

function kindsOf (
  message: Message,
  modern: boolean,
  method: string | undefined
): Array<[name: string, value: unknown]> {
  const { id, result, error } = message
  // Of extensions, which the specification does not know.
  if (/^notifications\/(?:patchbay\/|tasks$)/.test(message.method ?? '')) return [['JSONRPCNotification', message]]
  if (message.method !== undefined) {
    return id === undefined
      ? [
          ['JSONRPCNotification', message],
          ['ServerNotification', message]
        ]
      : [
          ['JSONRPCRequest', message],
          ['ServerRequest', message]
        ]
  }
  if (error !== undefined) {
    // Decided: an id that could not be read is null before the stateless revision.
    const envelope = id === null && !modern ? { ...message, id: 0 } : message
    const special = modern ? ERRORS[error.code] : undefined
    return [['JSONRPCError', envelope], ...(special === undefined ? [] : [[special, message] as [string, unknown]])]
  }
  return [['JSONRPCResponse', message], [resultName(result, modern, method), result]]
}

function resultName (result: Message['result'], modern: boolean, method = ''): string {
  if (result?.resultType === 'input_required') return 'InputRequiredResult'
  const isOfTask = method.startsWith('tasks/') || result?.resultType === 'task' || result?.task !== undefined
  if (isOfTask) return (modern ? undefined : TASK_RESULTS[method]) ?? 'Result'
  return RESULTS[method] ?? 'EmptyResult'
}

function check (official: Official, name: string, value: unknown): string[] {
  const validate = validatorOf(official, name)
  if (validate === undefined) return [`there is no ${name}`]
  return validate(value) === true ? [] : [`not a ${name}: ${official.engine.errorsText(validate.errors)}`]
}

function validatorOf ({ engine, definitions, at }: Official, name: string): ValidateFunction | undefined {
  const own = [name, `${name}Response`, name.replace('Response', 'ResultResponse')].find(key => key in definitions)
  return own === undefined ? undefined : engine.getSchema(`official#/${at}/${own}`)
}

// Who claims a version that does not exist is answered in the newest.
function official (claimed: string): Official {
  const { version } = revisions.find(({ version }) => version === claimed) ?? newest
  const existing = loaded.get(version)
  if (existing !== undefined) return existing
  const schema = JSON.parse(readFileSync(join(folder as string, version, 'schema.json'), 'utf8')) as Definition
  const at = '$defs' in schema ? '$defs' : 'definitions'
  const definitions = schema[at] as Record<string, Definition>
  for (const name of CLOSED) if (definitions[name] !== undefined) close(definitions[name])
  const engine = new (at === '$defs' ? Ajv2020 : Ajv)({ strict: false, formats: FORMATS })
  engine.addSchema(schema, 'official')
  const made = { engine, definitions, at }
  loaded.set(version, made)
  return made
}

const FORMATS = {
  uri: (value: string) => URL.canParse(value),
  'uri-template': (value: string) => value.includes(':'),
  byte: /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/
}

function close (definition: Definition): void {
  definition.additionalProperties = false
  const { annotations } = definition.properties as Record<string, Definition>
  if (annotations?.properties !== undefined) annotations.additionalProperties = false
}
