import { nearestName } from '../../lib/nearest-name.js'
import { isObject } from '../../protocol/wire/json.js'

/** A server with the fields of `Server` in options/upstreams.ts, whatever its client calls them. */
export interface KnownFields {
  /** By the name that the field has there. */
  readonly values: Record<string, unknown>
  /** The name of a field in its file, where that is another one: `headers.Authorization` is `bearer_token_env_var`. */
  readonly names: ReadonlyMap<string, string>
  /** The fields that have no meaning here. */
  readonly unused: readonly string[]
}

/** Other names of fields that mean the same. */
const SYNONYMS: Record<string, string> = {
  __proto__: null as never,
  serverUrl: 'url',
  httpUrl: 'url',
  transportType: 'type',
  http_headers: 'headers',
  env_file: 'envFile',
  enabled_tools: 'includeTools',
  disabled_tools: 'excludeTools',
  disabledTools: 'excludeTools',
  connectionTimeout: 'startTimeout',
  startup_timeout_ms: 'startTimeout'
}

/** Fields that concern how a client shows a server or asks its user, or that repeat what is known. */
const SILENT = new Set([
  '$schema',
  'alwaysAllow',
  'autoApprove',
  'default_tools_approval_mode',
  'description',
  'dev',
  'gallery',
  'icon',
  'id',
  'name',
  'notes',
  'required',
  'schema',
  'source',
  'trust',
  'version'
])

/** Reads the fields of a server in every spelling of the clients. `known` has the names of the fields of `Server`. */
export function readFields (given: Record<string, unknown>, known: ReadonlySet<string>): KnownFields {
  const fields = { values: {} as Record<string, unknown>, names: new Map<string, string>(), unused: [] as string[] }
  for (const [name, value] of Object.entries(unfold(given))) {
    if (value === undefined || value === null) continue
    const special = SPECIAL.get(name)
    const target = known.has(name) ? name : SYNONYMS[name]
    if (special !== undefined) special(value, name, fields)
    else if (target !== undefined) set(fields, target, value, name)
    else if (!SILENT.has(name)) fields.unused.push(name)
  }
  if (Object.hasOwn(given, 'httpUrl')) fields.values['type'] ??= 'http'
  return fields
}

interface Fields { values: Record<string, unknown>, names: Map<string, string>, unused: string[] }

type Special = (value: unknown, name: string, fields: Fields) => void

/** Fields whose value has another form here. A value of the wrong type is passed on, for the check of the fields. */
const SPECIAL = new Map<string, Special>([
  ['enabled', (value, name, fields) => set(fields, 'disabled', typeof value === 'boolean' ? !value : value, name)],
  ['tool_timeout_sec', (value, name, fields) => set(fields, 'timeout', milliseconds(value), name)],
  ['startup_timeout_sec', (value, name, fields) => set(fields, 'startTimeout', milliseconds(value), name)],
  [
    'bearer_token_env_var',
    (value, name, fields) => addHeader(fields, 'Authorization', `Bearer \${env:${String(value)}}`, name)
  ],
  ['apiKey', (value, name, fields) => addHeader(fields, 'Authorization', `Bearer ${String(value)}`, name)],
  [
    'env_http_headers',
    (value, name, fields) => {
      if (isObject(value)) {
        for (const [header, variable] of Object.entries(value)) {
          addHeader(fields, header, `\${env:${String(variable)}}`, `${name}.${header}`)
        }
      } else set(fields, 'headers', value, name)
    }
  ],
  ['oauth', (value, name, fields) => addSignIn(fields, value, name)],
  // Cursor has the client here, and Codex the kind of its own sign-in.
  [
    'auth',
    (value, name, fields) => {
      if (isObject(value)) addSignIn(fields, value, name)
      // A slip of the pen must not make all callers one person.
      else if (nearestName(String(value).toLowerCase(), ['shared', 'caller']) !== undefined) set(fields, name, value, name)
      else fields.unused.push(name)
    }
  ],
  ['oauthScopes', (value, name, fields) => addSignIn(fields, { scopes: value }, name)],
  ['sandboxEnabled', (value, name, fields) => set(fields, name, value, name)],
  ['sandbox', (value, name, fields) => set(fields, name, value, name)],
  ['env_vars', (value, name, fields) => set(fields, 'envVars', value, name)],
  // Codex has here what its user approved; a list would choose tools.
  [
    'tools',
    (value, name, fields) => {
      if (!isObject(value)) fields.unused.push(name)
    }
  ]
])

/** Other names of the members of `oauth`. */
const SIGN_IN: Record<string, string> = {
  __proto__: null as never,
  client_id: 'clientId',
  CLIENT_ID: 'clientId',
  client_secret: 'clientSecret',
  CLIENT_SECRET: 'clientSecret',
  callback_port: 'callbackPort',
  redirect_uri: 'redirectUri'
}

/** The members that a sign-in has here. Those of clients that name endpoints are found out. */
const KNOWN_SIGN_IN = new Set(['clientId', 'clientSecret', 'scopes', 'callbackPort', 'redirectUri', 'grant', 'issuer'])

function addSignIn (fields: Fields, value: unknown, name: string): void {
  if (!isObject(value)) {
    if (typeof value !== 'boolean') set(fields, 'oauth', value, name)
    return
  }
  const members = Object.entries(value)
    .map(([member, inner]) => [SIGN_IN[member] ?? member, inner] as const)
    .filter(([member, inner]) => KNOWN_SIGN_IN.has(member) && inner !== null)
    .map(([member, inner]) => [member, member === 'scopes' && typeof inner === 'string' ? inner.split(/\s+/) : inner])
  const before = fields.values['oauth']
  set(fields, 'oauth', { ...(isObject(before) ? before : {}), ...Object.fromEntries(members) }, name)
}

const milliseconds = (seconds: unknown): unknown => typeof seconds === 'number' ? Math.round(seconds * 1_000) : seconds

/**
 * The fields with those of nested objects that some clients have: `transport`, `requestOptions`, and a `command` with
 * its `path`.
 */
function unfold (given: Record<string, unknown>): Record<string, unknown> {
  const { transport, requestOptions, command, ...rest } = given
  const program = isObject(command)
    ? { ...command, command: command['path'], path: undefined }
    : command === undefined
      ? {}
      : { command }
  const transported = isObject(transport) ? transport : transport === undefined ? {} : { type: transport }
  const headers = isObject(requestOptions) ? { headers: requestOptions['headers'] } : {}
  return { ...headers, ...transported, ...program, ...rest }
}

function set (fields: Fields, target: string, value: unknown, name: string): void {
  const before = fields.values[target]
  fields.values[target] = target === 'headers' && isObject(before) && isObject(value) ? { ...before, ...value } : value
  if (name !== target) fields.names.set(target, name)
}

function addHeader (fields: Fields, header: string, value: string, name: string): void {
  const before = fields.values['headers']
  const headers = isObject(before) ? before : {}
  if (Object.keys(headers).some(known => known.toLowerCase() === header.toLowerCase())) return
  fields.values['headers'] = { ...headers, [header]: value }
  fields.names.set(`headers.${header}`, name)
}
