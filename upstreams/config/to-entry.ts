import { mistakesIn } from '../../options/mistakes.js'
import { wrongOverrides } from '../../options/overrides.js'
import { Server } from '../../options/upstreams.js'
import { nearestName } from '../../lib/nearest-name.js'
import { isConfidential } from '../../lib/network.js'
import { isObject } from '../../protocol/wire/json.js'
import type { Address, ServerEntry } from '../server-entry.js'
import { isReservedPath } from '../../protocol/http/reserved-paths.js'
import { aliasOf } from './alias.js'
import { FieldReader } from './field-reader.js'
import { Findings } from './findings.js'
import type { FoundServer, OfAllServers } from './found-server.js'
import { readFields, type KnownFields } from './known-fields.js'
import type { Variables } from '../../system/variables.js'

const FIELDS = new Set(Object.keys(Server.properties))

/** The address of a disabled server that has none, or whose URL has variables without a value: it is never used. */
const NOWHERE: Address = { kind: 'any', url: '', headers: {} }

/** Fields that mean something to servers that speak MCP alone. */
const OF_MCP = [
  'type', 'args', 'env', 'envFile', 'cwd', 'isolate', 'revision', 'roots', 'elicitation', 'sampling', 'oauth', 'auth'
] as const
const NOT_OF_APIS = 'has no meaning for an API with an OpenAPI document'

/** The most fields without a meaning that are named of one server. */
const MAX_UNUSED = 20

/**
 * The entry of a server, with its variables expanded; undefined where that cannot be. What is wrong is added to the
 * findings.
 */
export function toEntry (
  server: FoundServer,
  variables: Variables,
  ofAll: OfAllServers,
  findings: Findings
): ServerEntry | undefined {
  const fields = readChecked(server, findings)
  if (fields === undefined) return undefined
  const isDisabled = (fields.values as Server).disabled === true
  const reader = new FieldReader(server, fields, variables, isDisabled ? new Findings() : findings)
  const alias = checkAlias(server, findings)
  const address = reader.address() ?? (isDisabled ? NOWHERE : undefined)
  if (address === undefined || alias === undefined) return undefined
  const values = fields.values as Server
  const { pins = ofAll.pins } = values
  const pinned = pins === undefined || pins === 'off' ? {} : { pins }
  const rest = { ...reader.rest(alias, ofAll.schemas), ...pinned, ...reader.secrets() }
  if (address.kind === 'openapi') return withoutMcp({ ...rest, address }, server, values, findings)
  const read = { ...rest, address }
  const entry = withAuth(read, values)
  const wrong = isDisabled ? undefined : whyNoCallers(entry)
  if (wrong !== undefined) findings.mistake(server, 'auth', wrong)
  const { redirectUri } = entry.oauth ?? {}
  const isOpen = redirectUri !== undefined && !isConfidential(new URL(redirectUri))
  if (isOpen) findings.mistake(server, 'oauth', 'has an http URL as redirectUri, over which codes could be read; use https')
  return wrong === undefined && !isOpen ? entry : undefined
}

/** The entry of an API, without what means something to servers that speak MCP alone. */
function withoutMcp (entry: ServerEntry, server: FoundServer, values: Server, findings: Findings): ServerEntry {
  for (const field of OF_MCP) if (values[field] !== undefined) findings.warn(server, field, NOT_OF_APIS)
  const { revision, oauth, ...ofApi } = entry
  return { ...ofApi, isolate: 'none', roots: undefined }
}

/** Callers who sign in themselves share no connection. */
function withAuth (entry: ServerEntry, { auth }: Server): ServerEntry {
  if (auth !== 'caller') return entry
  return { ...entry, auth, isolate: entry.isolate === 'none' ? 'principal' : entry.isolate }
}

/** Why callers cannot each sign in to a server that is to be used so; undefined where they can. */
function whyNoCallers ({ auth, address, oauth }: ServerEntry): string | undefined {
  if (auth !== 'caller') return undefined
  if (address.kind === 'stdio') return 'is caller, which is for servers with a URL: a program on this machine has its credentials in env'
  if (Object.keys(address.headers).some(name => name.toLowerCase() === 'authorization')) {
    return 'is caller, but the header Authorization is one credential for all; remove one of them'
  }
  if (oauth?.grant === 'client_credentials') return 'is caller, but client_credentials sign in the gateway itself; remove one of them'
  return isConfidential(new URL(address.url)) ? undefined : 'is caller, but tokens could be read over its http URL; use https'
}

/**
 * The fields of a server by the names that they have here; undefined where they cannot be used. What is wrong is added
 * to the findings.
 */
export function readChecked (server: FoundServer, findings: Findings): KnownFields | undefined {
  if (!isObject(server.values)) {
    findings.mistake(server, '', 'must be an object, such as {"command":"npx","args":["-y","some-server"]}')
    return undefined
  }
  if (isExtension(server.values)) {
    findings.warn(server, '', 'belongs to an extension of its client, which knows how to start it; it is left out')
    return undefined
  }
  const fields = readFields(server.values, FIELDS)
  const before = findings.count
  checkFields(server, fields, findings)
  return findings.count > before ? undefined : fields
}

/** Zed keeps the settings of servers that its extensions start beside the others. */
const isExtension = ({ command, url, openapi, settings, source }: Record<string, unknown>): boolean =>
  command === undefined && url === undefined && openapi === undefined && (settings !== undefined || source === 'extension')

const SANDBOX =
  'asks for a sandbox of its client, which Patchbay does not have; put one into command, such as docker run, or remove the field if the server needs none'

function checkFields (server: FoundServer, { values, names, unused }: KnownFields, findings: Findings): void {
  const { envVars, sandboxEnabled, sandbox, ...rest } = values
  const mistakes = mistakesIn(Server, rest)
  const { override } = rest as Server
  const deeper = mistakes.length === 0 && override !== undefined ? wrongOverrides(override, 'override') : []
  for (const { path, text } of [...mistakes, ...deeper]) {
    const [, place = path, sentence = text] = /^option ([^" ]+) (.*)$/s.exec(text) ?? []
    findings.mistake(server, names.get(place) ?? names.get(place.split('.')[0] ?? '') ?? place, sentence)
  }
  // Only `false` says that none is wanted: a value that its client does not know must not run without one.
  if (sandboxEnabled !== false && (sandboxEnabled !== undefined || sandbox !== undefined)) {
    findings.mistake(server, sandboxEnabled === undefined ? 'sandbox' : 'sandboxEnabled', SANDBOX)
  }
  if (envVars !== undefined && !Array.isArray(envVars)) findings.mistake(server, 'env_vars', 'must be a list of names')
  for (const field of unused.slice(0, MAX_UNUSED)) {
    const nearest = nearestName(field, FIELDS)
    findings.unused(server, field, nearest === undefined ? '' : `; did you mean "${nearest}"?`)
  }
}

function checkAlias (server: FoundServer, findings: Findings): string | undefined {
  const alias = aliasOf(server.name)
  if (!isReservedPath(alias)) return alias
  const what = `cannot have this name, because /mcp/${alias} is a URL of the gateway itself; give it another name`
  findings.mistake(server, '', what)
  return undefined
}
