import { mistakesIn } from '../../options/mistakes.js'
import { wrongOverrides } from '../../options/overrides.js'
import { Server } from '../../options/upstreams.js'
import { nearestName } from '../../lib/nearest-name.js'
import { isObject } from '../../protocol/wire/json.js'
import type { Address, ServerEntry } from '../server-entry.js'
import { isReservedPath } from '../../protocol/http/reserved-paths.js'
import { aliasOf } from './alias.js'
import { FieldReader } from './field-reader.js'
import { Findings } from './findings.js'
import type { FoundServer } from './found-server.js'
import { readFields, type KnownFields } from './known-fields.js'
import type { Variables } from '../../system/variables.js'

const FIELDS = new Set(Object.keys(Server.properties))

/** The address of a disabled server that has none, or whose URL has variables without a value: it is never used. */
const NOWHERE: Address = { kind: 'any', url: '', headers: {} }

/** The most fields without a meaning that are named of one server. */
const MAX_UNUSED = 20

/**
 * The entry of a server, with its variables expanded; undefined where that cannot be. What is wrong is added to the
 * findings.
 */
export function toEntry (
  server: FoundServer,
  variables: Variables,
  schemas: ServerEntry['schemas'],
  findings: Findings
): ServerEntry | undefined {
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
  if (findings.count > before) return undefined
  const isDisabled = (fields.values as Server).disabled === true
  const reader = new FieldReader(server, fields, variables, isDisabled ? new Findings() : findings)
  const alias = checkAlias(server, findings)
  const address = reader.address() ?? (isDisabled ? NOWHERE : undefined)
  return address === undefined || alias === undefined ? undefined : { ...reader.rest(alias, schemas), address }
}

/** Zed keeps the settings of servers that its extensions start beside the others. */
const isExtension = ({ command, url, settings, source }: Record<string, unknown>): boolean =>
  command === undefined && url === undefined && (settings !== undefined || source === 'extension')

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
  if (sandboxEnabled === true || (sandboxEnabled === undefined && sandbox !== undefined)) {
    findings.mistake(server, sandboxEnabled === true ? 'sandboxEnabled' : 'sandbox', SANDBOX)
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
