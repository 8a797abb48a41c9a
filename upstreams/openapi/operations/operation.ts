import { isObject } from '../../../protocol/wire/json.js'
import { cutText } from '../schema/keywords.js'
import { fit, MAX_CUT } from '../schema/fit.js'
import type { Converted, Schemas } from '../schema/schemas.js'
import { outputSchema } from './output.js'
import { membersOf, readBody, type Members, type RequestBody } from '../document/bodies.js'
import { rawParameters, readParameter, type Parameter } from '../document/parameters.js'
import { setMember, textOf, type Json, type References } from '../document/references.js'

/** An operation of an API, as its calls need it. */
export interface Operation {
  readonly method: string
  /** With the path of the server before it; arguments have the form `{name}`. */
  readonly path: string
  /** The path as the document has it. */
  readonly ownPath: string
  /** The parameters by the names that their arguments have. */
  readonly parameters: ReadonlyMap<string, Parameter>
  readonly required: readonly string[]
  readonly body: (RequestBody & {
    /** The argument that is the whole body, unless its members are arguments. */
    readonly argument: string | undefined
    /** The members that are arguments. */
    readonly members: ReadonlySet<string>
  }) | undefined
  /** The schema that the structured content of results has to fit, where it is listed. */
  readonly output: Json | undefined
}

/** An operation as it is found in a document. */
export interface FoundOperation {
  readonly name: string
  readonly method: string
  readonly path: string
  readonly basePath: string
  readonly operation: Json
  readonly pathItem: Json
}

export interface OperationSource {
  readonly root: Json
  readonly references: References
  readonly schemas: Schemas
  /** The schemas of answers, where tools are listed with them. */
  readonly answers: Schemas | undefined
  /** The names of headers, in small letters, of members of the query, and of cookies that the entry sets itself. */
  readonly setHeaders: ReadonlySet<string>
  readonly setQuery: ReadonlySet<string>
  readonly setCookies: ReadonlySet<string>
  readonly maxSchema: number
}

const MAX_DESCRIPTION = 2_000
const MAX_TITLE = 200
const MAX_PATH = 2_000

/** Headers that are not for callers to choose. */
const REFUSED = /^(accept|accept-charset|accept-encoding|authorization|connection|content-(encoding|length|type)|cookie2?|date|expect|forwarded|host|keep-alive|mcp-.*|origin|proxy-.*|referer|sec-.*|te|trailer|transfer-encoding|upgrade|via|x-forwarded-.*|x-real-ip)$/i

/** The operation, and the tool that stands for it. Throws in words where it cannot be one. */
export function readOperation (
  found: FoundOperation,
  source: OperationSource
): { operation: Operation, tool: Json, isCut: boolean } {
  const { references, schemas, root } = source
  const { operation: raw, pathItem, method, path } = found
  if (path.length > MAX_PATH) throw new Error(`its path has more than ${MAX_PATH} characters`)
  const given = rawParameters(pathItem, raw, references)
  const parameters = given
    .map(one => readParameter(one, schemas, references))
    .filter((one): one is Parameter => one !== undefined && !isSet(one, source))
  parameters.push(...missing(path, parameters))
  const body = method === 'GET' || method === 'HEAD' ? undefined : readBody(raw, given, root, references)
  const members = body === undefined || !hasMembers(body) ? undefined : membersOf(body.raw, references)
  const named = nameArguments(parameters, members)
  const argument = body === undefined || members !== undefined ? undefined : freeName('body', named)
  const input = inputSchema(named, body, members, argument, source)
  const fitted = fit(input, schemas, source.maxSchema)
  if (fitted === undefined) throw new Error(tooLong(source.maxSchema))
  const output = method === 'HEAD' ? undefined : source.answers && outputSchema(raw, root, references, source.answers, source.maxSchema)
  return {
    operation: {
      method,
      path: found.basePath + path,
      ownPath: path,
      parameters: named,
      required: fitted.schema['required'] as string[],
      body: body && { ...body, argument, members: new Set(members?.properties.keys()) },
      output
    },
    tool: toolOf(found, fitted.schema, output),
    isCut: fitted.isCut
  }
}

const tooLong = (max: number): string => `its arguments take more than ${max} characters of JSON (limit maxApiSchema)`

const hasMembers = ({ kind }: RequestBody): boolean => kind === 'json' || kind === 'form' || kind === 'multipart'

/** True for a parameter that the entry has a value for, and for headers that the gateway alone sets. */
function isSet ({ in: place, name }: Parameter, { setHeaders, setQuery, setCookies }: OperationSource): boolean {
  if (place === 'query') return setQuery.has(name)
  if (place === 'cookie') return setCookies.has(name)
  return place === 'header' && (REFUSED.test(name) || setHeaders.has(name.toLowerCase()) || !/^[\w!#$%&'*+.^`|~-]+$/.test(name))
}

/** The parameters in a path that the document does not describe. */
function missing (path: string, parameters: readonly Parameter[]): Parameter[] {
  const known = new Set(parameters.filter(one => one.in === 'path').map(({ name }) => name))
  const named = [...path.matchAll(/\{([^{}]+)\}/g)].map(([, name = '']) => name)
  return [...new Set(named)].filter(name => !known.has(name)).map(name => ({
    in: 'path',
    name,
    required: true,
    description: undefined,
    schema: { schema: { type: 'string' }, length: 17, pointers: new Set<string>() },
    isJson: false,
    style: 'simple',
    explode: false,
    allowReserved: false
  }))
}

/** The parameters by the names of their arguments: what has the name of another gets its place behind it. */
function nameArguments (parameters: readonly Parameter[], members: Members | undefined): Map<string, Parameter> {
  const counts = new Map<string, number>([...members?.properties.keys() ?? []].map(name => [name, 1]))
  for (const { name } of parameters) counts.set(name, (counts.get(name) ?? 0) + 1)
  const named = new Map<string, Parameter>()
  for (const parameter of parameters) {
    const { name, in: place } = parameter
    const argument = counts.get(name) === 1 && name !== '__proto__' ? name : `${name}__${place}`
    named.set(freeName(argument, named, members?.properties), parameter)
  }
  return named
}

function freeName (wanted: string, ...taken: Array<ReadonlyMap<string, unknown> | undefined>): string {
  return taken.some(names => names?.has(wanted)) ? freeName(`${wanted}_`, ...taken) : wanted
}

function inputSchema (
  named: ReadonlyMap<string, Parameter>,
  body: RequestBody | undefined,
  members: Members | undefined,
  argument: string | undefined,
  { schemas, maxSchema }: OperationSource
): Converted {
  const properties: Record<string, unknown> = {}
  const pointers = new Set<string>()
  // Arguments that are too long in any case are not written as JSON.
  let known = 0
  const add = (name: string, { schema, length, pointers: own }: Converted, description?: string): void => {
    const isLong = length > maxSchema
    known += isLong ? 0 : length
    if (known > MAX_CUT * maxSchema) throw new Error(tooLong(maxSchema))
    for (const pointer of isLong ? [] : own) pointers.add(pointer)
    const shown = isLong ? {} : schema
    setMember(properties, name, description === undefined ? shown : { ...shown, description })
  }
  for (const [name, { schema, description }] of named) add(name, schema, description)
  for (const [name, raw] of members?.properties ?? []) add(name, schemas.convert(raw))
  if (argument !== undefined && body !== undefined) add(argument, bodySchema(body, schemas))
  const isNeeded = body?.required === true
  const required = [
    ...[...named].filter(([, one]) => one.required).map(([name]) => name),
    ...isNeeded ? [...members?.required ?? []].filter(name => members?.properties.has(name)) : [],
    ...isNeeded && argument !== undefined ? [argument] : []
  ]
  const schema = { type: 'object', properties, required, additionalProperties: false }
  return { schema, length: JSON.stringify(schema).length, pointers }
}

function bodySchema ({ kind, raw, mediaType }: RequestBody, schemas: Schemas): Converted {
  if (kind !== 'bytes' && kind !== 'text') return schemas.convert(raw)
  const description = kind === 'bytes' ? `The bytes of the body (${mediaType}), in base64` : `The body (${mediaType})`
  const schema = { type: 'string', ...(kind === 'bytes' && { contentEncoding: 'base64' }), description }
  return { schema, length: JSON.stringify(schema).length, pointers: new Set() }
}

function toolOf (
  { name, method, path, operation }: FoundOperation,
  inputSchema: Json,
  outputSchema: Json | undefined
): Json {
  const [summary, description] = [textOf(operation['summary']), textOf(operation['description'])]
  const texts = [summary, description === summary ? undefined : description].filter(text => text !== undefined)
  if (operation['deprecated'] === true) texts.unshift('Deprecated.')
  return {
    name,
    ...(summary !== undefined && { title: cutText(summary, MAX_TITLE) }),
    description: texts.length === 0 ? `${method} ${path}` : cutText(texts.join('\n\n'), MAX_DESCRIPTION),
    inputSchema,
    ...(outputSchema !== undefined && { outputSchema }),
    annotations: annotationsOf(method),
    _meta: { 'patchbay/operation': `${method} ${path}` }
  }
}

/** The meaning of the HTTP method (RFC 9110, section 9.2). */
function annotationsOf (method: string): Json {
  if (['GET', 'HEAD', 'OPTIONS', 'TRACE'].includes(method)) return { readOnlyHint: true, openWorldHint: true }
  const isRepeatable = method === 'PUT' || method === 'DELETE'
  return { readOnlyHint: false, ...(method === 'DELETE' && { destructiveHint: true }), idempotentHint: isRepeatable, openWorldHint: true }
}

/** True where a document says that something is not for MCP. */
export const isHidden = (value: unknown): boolean => isObject(value) && value['x-mcp'] === false
