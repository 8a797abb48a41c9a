import type { Json, JsonObject } from '../client/contract.js'
import { secretsIn } from '../forms/model/secret.js'
import { below, type Pointer } from '../forms/model/value.js'

const FIELDS = new Set([
  'authorization',
  'cookie',
  'set-cookie',
  'proxy-authorization',
  'x-api-key',
  'client_secret',
  'code_verifier',
  'client_assertion',
  'assertion',
  'refresh_token',
  'access_token',
  'id_token',
  'password',
  'token'
])
/**
 * Fields whose name says too little: only texts are hidden, for an error has a number under `code`, and the name of its
 * cause under `data.code`.
 */
const TEXT_FIELDS = new Set(['code'])
const ERROR_CODE = /^PATCHBAY_[A-Z_]+$/
const KEY = /\bpb_[A-Za-z0-9_-]{8,}/g
const BEARER = /\b(Bearer|Basic)\s+[A-Za-z0-9._~+/-]{8,}=*/gi

/** Stands in place of a secret. */
export const REDACTED = '[redacted]'

/**
 * A copy without what is usually secret: by the name of a field, by `secretPathsOf` a schema, and by the look of a key.
 */
export function redact (value: Json, secretPaths: ReadonlySet<Pointer> = new Set()): Json {
  return redactAt(value, '', secretPaths, isSecret)
}

function redactAt (
  value: Json,
  at: Pointer,
  secret: ReadonlySet<Pointer>,
  isSecretField: (name: string, value: Json) => boolean
): Json {
  if (secret.has(at)) return REDACTED
  if (typeof value === 'string') return value.replace(KEY, REDACTED).replace(BEARER, `$1 ${REDACTED}`)
  if (Array.isArray(value)) return value.map((item, index) => redactAt(item, below(at, index), secret, isSecretField))
  if (typeof value !== 'object' || value === null) return value
  const copy = Object.entries(value).map(
    ([name, member]) =>
      [name, isSecretField(name, member) ? REDACTED : redactAt(member, below(at, name), secret, isSecretField)] as const
  )
  return Object.fromEntries(copy)
}

function isSecret (name: string, value: Json): boolean {
  const field = name.toLowerCase()
  return FIELDS.has(field) || (TEXT_FIELDS.has(field) && typeof value === 'string' && !ERROR_CODE.test(value))
}

/**
 * Params for use elsewhere, without values that the schema of the arguments calls secret, and without keys of this
 * gateway.
 */
export function redactSecrets (params: JsonObject, inputSchema: Json | undefined): JsonObject {
  const secret = new Set(secretPathsOf(params.arguments, inputSchema, '/arguments'))
  return redactAt(params, '', secret, () => false) as JsonObject
}

/** Where arguments that are at `path` hold what their schema calls secret: `/login/pin`, `/keys/0`. */
export function secretPathsOf (value: Json | undefined, schema: Json | undefined, path: Pointer = ''): Pointer[] {
  return value === undefined ? [] : secretsIn(value, schema, path)
}
