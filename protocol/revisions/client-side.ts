import { codes } from '../wire/errors.js'
import type { Params } from '../wire/jsonrpc.js'
import { META, metaOf } from '../wire/meta.js'
import type { Implementation, Revision } from './revision.js'
import { modern, newestStateful, revisionNamed } from './table.js'

/** The error codes that only servers without a handshake use. */
const MODERN_CODES = new Set<number>([codes.headerMismatch, codes.missingCapability, codes.unsupportedVersion])

/** Of a client that can be asked nothing. */
export const NO_CAPABILITIES = Object.freeze({})

/** True for an error that no server with a handshake answers `server/discover` with. */
export const isModernCode = (code: number): boolean => MODERN_CODES.has(code)

/** The params of our own `initialize`: it asks for that version, or for the newest revision with a handshake. */
export const initializeParams = (
  clientInfo: Implementation,
  capabilities: object,
  version: string = newestStateful.version
): Params => ({ protocolVersion: version, capabilities, clientInfo })

/** The revision that the result of our `initialize` names; undefined for one that we do not speak after a handshake. */
export function negotiateRevision ({ protocolVersion }: Params): Revision | undefined {
  const revision = typeof protocolVersion === 'string' ? revisionNamed(protocolVersion) : undefined
  return revision?.stateless === true ? undefined : revision
}

/** The revision without a handshake that a server supports, of the versions it lists; undefined for none. */
export const findModern = (versions: unknown): Revision | undefined =>
  Array.isArray(versions) && versions.includes(modern.version) ? modern : undefined

/** True when a server lists a version that begins with `initialize`. */
export const supportsHandshake = (versions: unknown): boolean =>
  Array.isArray(versions) &&
  versions.some(version => typeof version === 'string' && revisionNamed(version)?.stateless === false)

/** The members of `_meta` that say who we are, in each of our requests in a revision without a handshake. */
export const selfDescription = (clientInfo: Implementation, capabilities: object = NO_CAPABILITIES): Params =>
  ({ [META.version]: modern.version, [META.clientInfo]: clientInfo, [META.capabilities]: capabilities })

/** These members as JSON text that ends before the value of the capabilities, which differ from call to call. */
export const encodeSelf = (clientInfo: Implementation): string =>
  `${JSON.stringify({ [META.version]: modern.version, [META.clientInfo]: clientInfo }).slice(0, -1)},"${META.capabilities}":`

/** The revision that the params of a request name in their `_meta`; undefined for other requests. */
export const revisionDescribedBy = (params: Params): Revision | undefined =>
  Object.hasOwn(metaOf(params), META.version) ? modern : undefined
