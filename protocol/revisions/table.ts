import { errors } from '../wire/errors.js'
import { isObject } from '../wire/json.js'
import type { Request } from '../wire/jsonrpc.js'
import { META } from '../wire/meta.js'
import type { Revision } from './revision.js'
import { stateful } from './stateful.js'
import { stateless } from './stateless.js'

const known = new Map([...stateful, stateless].map(revision => [revision.version, revision]))

export const oldest = stateful[0] as Revision
export const newestStateful = stateful.at(-1) as Revision
export const modern = stateless

/** The versions of all revisions, newest first, as clients get them. */
export const versions: string[] = [...known.keys()].reverse()

export const revisionNamed = (version: string): Revision | undefined => known.get(version)

/** The revision that `initialize` is answered with: the version asked for, or the newest one that has a handshake. */
export function negotiate (version: unknown): Revision {
  const wanted = typeof version === 'string' ? known.get(version) : undefined
  return wanted === undefined || wanted.stateless ? newestStateful : wanted
}

/** The version a self-described request names; undefined when its `_meta` is incomplete. */
export function declaredVersion ({ meta }: Request): string | undefined {
  const { [META.version]: version, [META.capabilities]: capabilities } = meta
  return typeof version === 'string' && isObject(capabilities) ? version : undefined
}

/** A sentence with all members that the `_meta` of a self-described request needs and lacks. */
export function missingMembers ({ meta }: Request): string {
  const needs = typeof meta[META.version] === 'string' ? [] : [`"${META.version}" as a string`]
  if (!isObject(meta[META.capabilities])) needs.push(`"${META.capabilities}" as an object`)
  return `_meta needs ${needs.join(' and ')}`
}

/** The revision that answers a self-described request. */
export function statelessRevision (version: string): Revision {
  const revision = known.get(version)
  if (revision?.stateless !== true) throw errors.unsupportedVersion(version, versions)
  return revision
}

/** True for a header that names a revision without a handshake. */
export const isModern = (version: unknown): boolean =>
  typeof version === 'string' && known.get(version)?.stateless === true
