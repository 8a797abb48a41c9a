import { isDeepStrictEqual } from 'node:util'
import { isObject } from '../../../protocol/wire/json.js'
import type { Params } from '../../../protocol/wire/jsonrpc.js'
import { jsonSchemaOf, type AnySchema } from '../../../protocol/schema/schema.js'
import { place, SharedSchemas, type Placed } from './shared-schemas.js'

/** A route of the host application, as far as Fastify tells of it. */
export interface FoundRoute {
  readonly method: string
  readonly url: string
  /** Undefined for a route that was registered before Patchbay. */
  readonly schema: Readonly<Record<string, unknown>> | undefined
  /** The schemas that the application has added for it, by their ids. */
  readonly shared: Readonly<Record<string, unknown>>
}

type Place = 'path' | 'query' | 'body' | 'header'

interface Argument {
  readonly name: string
  readonly place: Place
  readonly schema: unknown
  readonly isRequired: boolean
}

/** The arguments of a tool, and where they go. */
export interface RouteInput {
  readonly schema: Record<string, unknown>
  /** Sorts the values of a call by their places. The body is undefined where there is none. */
  sort: (args: Params) => { path: Params, query: Params, headers: Params, body: unknown }
}

/** Headers that carry the message, or are for the transport alone. */
const OF_MESSAGE = 'host connection keep-alive content-length content-type transfer-encoding te trailer upgrade ' +
  'expect origin via forwarded sec-* mcp-* x-patchbay-*'
/** Headers that say who calls, and from where: applications trust that a proxy has set them. */
const OF_CALLER = 'authorization cookie proxy-* remote-* x-remote-* x-forwarded-* x-original-* x-real-ip x-client-ip ' +
  'true-client-ip cf-connecting-* cf-access-* x-client-cert* x-ssl-* ssl-client-* x-auth-request-* x-authenticated-* ' +
  'x-webauth-* x-amzn-oidc-* x-goog-authenticated-* x-goog-iap-* x-ms-client-principal* tailscale-user-*'
/** Headers that no argument sets. */
const NOT_ARGUMENTS = new RegExp(`^(${`${OF_MESSAGE} ${OF_CALLER}`.replaceAll('*', '.*').replaceAll(' ', '|')})$`, 'i')

const hasBody = (method: string): boolean => method === 'POST' || method === 'PUT' || method === 'PATCH'

/**
 * Makes flat arguments of what a route takes; a name that is in two places has the place behind it in both. The headers
 * of the caller that the route gets, in lower case, are none.
 */
export function routeInput (
  route: FoundRoute,
  names: ReadonlyArray<{ readonly name: string, readonly isOptional: boolean }>,
  callerHeaders: readonly string[]
): RouteInput {
  const shared = new SharedSchemas(route.shared)
  const { params, querystring, query = querystring, body, headers } = route.schema ?? {}
  const isOfCaller = (name: string): boolean => NOT_ARGUMENTS.test(name) || callerHeaders.includes(name.toLowerCase())
  const inPath = argumentsOf('path', params, shared)
  const all: Argument[] = [
    ...names.map(({ name, isOptional }): Argument => ({
      name,
      place: 'path',
      schema: inPath.find(known => known.name === name)?.schema ?? { type: 'string' },
      isRequired: !isOptional
    })),
    ...argumentsOf('query', query, shared),
    ...argumentsOf('header', headers, shared).filter(({ name }) => !isOfCaller(name))
  ]
  const whole = place('body', jsonSchema(withoutContent(body)))
  const inBody = hasBody(route.method) && hasProperties(whole, shared) ? argumentsIn('body', whole, shared) : []
  const isWhole = hasBody(route.method) && inBody.length === 0 && (route.schema === undefined || body !== undefined)
  const bodySchema = whole.schema === undefined ? {} : shared.move(shared.follow(whole))
  if (isWhole) all.push({ name: 'body', place: 'body', schema: bodySchema, isRequired: body !== undefined })
  else all.push(...inBody)
  // A route whose schema is not known may take any query.
  if (route.schema === undefined) all.push({ name: 'query', place: 'query', schema: { type: 'object' }, isRequired: false })
  return inputOf(all, shared, isWhole, route.schema === undefined, hasBody(route.method) && inBody.length > 0)
}

function inputOf (
  all: readonly Argument[],
  { definitions }: SharedSchemas,
  isWholeBody: boolean,
  isWholeQuery: boolean,
  takesMore: boolean
): RouteInput {
  const isTwice = ({ name }: Argument): boolean => all.filter(other => other.name === name).length > 1
  const placed = new Map(all.map(each => [isTwice(each) ? `${each.name}__${each.place}` : each.name, each]))
  const required = [...placed].filter(([, { isRequired }]) => isRequired).map(([name]) => name)
  return {
    schema: {
      type: 'object',
      properties: Object.fromEntries([...placed].map(([name, { schema }]) => [name, schema])),
      ...(required.length === 0 ? {} : { required }),
      ...(Object.keys(definitions).length === 0 ? {} : { $defs: definitions })
    },
    sort: args => {
      const sorted = { path: {} as Params, query: {} as Params, header: {} as Params, body: {} as Params }
      for (const [given, value] of Object.entries(args)) {
        const { name, place } = placed.get(given) ?? { name: given, place: takesMore ? 'body' : 'query' }
        sorted[place][name] = value
      }
      const { path, header: headers, query, body } = sorted
      const isSent = takesMore || Object.keys(body).length > 0
      return {
        path,
        headers,
        query: isWholeQuery && isObject(query.query) ? query.query : query,
        body: isSent ? isWholeBody ? body.body : body : undefined
      }
    }
  }
}

const argumentsOf = (where: Place, schema: unknown, shared: SharedSchemas): Argument[] =>
  argumentsIn(where, place(where, jsonSchema(schema)), shared)

/** The properties of a schema and of all that hold with it; none where it is not that of an object. */
function argumentsIn (where: Place, placed: Placed, shared: SharedSchemas): Argument[] {
  const objects = objectsIn(placed, shared)
  const required = new Set(objects.flatMap(({ schema }) => Array.isArray(schema.required) ? schema.required : []))
  const found = new Map<string, unknown[]>()
  for (const { schema: { properties }, base } of objects) {
    for (const [name, schema] of isObject(properties) ? Object.entries(properties) : []) {
      const others = found.get(name) ?? []
      const moved = shared.move({ schema, base })
      if (!others.some(other => isDeepStrictEqual(other, moved))) found.set(name, [...others, moved])
    }
  }
  return [...found].map(([name, schemas]) => ({
    name,
    place: where,
    schema: schemas.length === 1 ? schemas[0] : { allOf: schemas },
    isRequired: required.has(name) && !schemas.some(schema => isObject(schema) && 'default' in schema)
  }))
}

type PlacedObject = Placed & { readonly schema: Record<string, unknown> }

/** The schema that a reference leads to, and those that hold with it (`allOf`), each once: one may contain itself. */
function objectsIn (placed: Placed, shared: SharedSchemas, seen = new Set<unknown>()): PlacedObject[] {
  const { schema, base } = shared.follow(placed)
  if (!isObject(schema) || seen.has(schema)) return []
  seen.add(schema)
  return [{ schema, base }, ...partsOf(schema).flatMap(part => objectsIn({ schema: part, base }, shared, seen))]
}

/** True for a schema whose properties tell everything: it has some, or all that hold with it have. */
function hasProperties (placed: Placed, shared: SharedSchemas, seen = new Set<unknown>()): boolean {
  const { schema, base } = shared.follow(placed)
  if (!isObject(schema) || seen.has(schema)) return false
  seen.add(schema)
  if (isObject(schema.properties)) return true
  const parts = partsOf(schema)
  return parts.length > 0 && parts.every(part => hasProperties({ schema: part, base }, shared, seen))
}

const partsOf = ({ allOf }: Record<string, unknown>): unknown[] => Array.isArray(allOf) ? allOf : []

/** A schema as JSON Schema; Standard Schemas are converted. */
const jsonSchema = (schema: unknown): unknown =>
  isObject(schema) && '~standard' in schema ? jsonSchemaOf(schema as AnySchema, 'input') : schema

/** The schema of JSON, of a body that has one for each media type. */
function withoutContent (body: unknown): unknown {
  if (!isObject(body) || !isObject(body.content)) return body
  const json = body.content['application/json']
  return isObject(json) ? json.schema : undefined
}
