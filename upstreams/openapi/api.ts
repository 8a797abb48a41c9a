import { Slices } from '../../lib/slices.js'
import { isObject } from '../../protocol/wire/json.js'
import { quote, Warnings } from '../lists/reading/warnings.js'
import type { Address } from '../server-entry.js'
import type { ApiDocument } from './document/parse.js'
import { listOf, References, textOf, type Json } from './document/references.js'
import { basePathOf, serverOf, swaggerServer } from './document/servers.js'
import { Choice } from './operations/choice.js'
import { namesOf } from './operations/names.js'
import { isHidden, readOperation, type FoundOperation, type Operation, type OperationSource } from './operations/operation.js'
import { cookieNames } from './request/request.js'
import { MAX_CUT } from './schema/fit.js'
import { ANSWERS, Schemas } from './schema/schemas.js'

export type ApiAddress = Extract<Address, { kind: 'openapi' }>

/** An API as its document describes it: where it is, and its operations as tools. */
export interface Api {
  readonly url: URL
  readonly instructions: string | undefined
  readonly tools: readonly Json[]
  readonly operations: ReadonlyMap<string, Operation>
  /** Sentences about operations that are no tools, and patterns that fit none. */
  readonly warnings: readonly string[]
}

export interface ApiLimits {
  /** The most operations that become tools. */
  readonly maxOperations: number
  /** The longest schema of the arguments of one, in characters of JSON. */
  readonly maxSchema: number
}

/** The most operations of a document that are looked at, to within those of one path. */
const MAX_FOUND = 100_000
const METHODS = ['get', 'head', 'post', 'put', 'patch', 'delete', 'options', 'trace']

/** Reads an API from its document, over several turns of the event loop where it is long. Throws in words. */
export async function readApi ({ root, format }: ApiDocument, address: ApiAddress, limits: ApiLimits): Promise<Api> {
  const references = new References(root)
  const schemas = new Schemas(references, format !== '3.1')
  const url = urlOf(root, format, address)
  const warnings = new Warnings()
  const choice = new Choice(address.operations)
  const slices = new Slices()
  const found: FoundOperation[] = []
  for (const each of await findOperations(root, references, url, address, warnings, slices)) {
    if (choice.includes(choosable(each))) found.push(each)
    await slices.spend(each.path.length)
  }
  for (const sentence of choice.unused()) warnings.add(sentence)
  const answers = address.operations.outputSchema === true
    ? new Schemas(references, format !== '3.1', ANSWERS)
    : undefined
  const source = { ...sourceOf(root, references, schemas, url, address, limits), answers }
  const [tools, operations] = [[] as Json[], new Map<string, Operation>()]
  let cut = 0
  if (found.length > limits.maxOperations) {
    warnings.add(`its document has more than ${limits.maxOperations} operations (limit maxUpstreamEntries): the others are left out`)
  }
  for (const each of found.slice(0, limits.maxOperations)) {
    // Arguments that are cut, or that do not fit, are read up to this length.
    let size = MAX_CUT * limits.maxSchema
    try {
      const { operation, tool, isCut } = readOperation(each, source)
      tools.push(tool)
      operations.set(each.name, operation)
      if (isCut) cut++
      else size = limits.maxSchema
    } catch (error) {
      warnings.add(`operation ${quote(`${each.method} ${each.path}`)} is left out: ${(error as Error).message}`)
    }
    await slices.spend(size)
  }
  if (cut > 0) warnings.add(`the arguments of ${cut} tools are not described to the end: they take more than ${limits.maxSchema} characters of JSON (limit maxApiSchema)`)
  const lost = new Set([...schemas.lost, ...answers?.lost ?? []])
  for (const reference of lost) warnings.add(() => `the reference ${quote(reference)} leads nowhere in its document, and is not followed`)
  return { url, instructions: instructionsOf(root), tools, operations, warnings: warnings.list() }
}

const NO_SERVER = 'its document does not say where the API is; set "url" of this server'

/** Where the API is: what the entry says, else what the document says. */
function urlOf (root: Json, format: ApiDocument['format'], { url, document }: ApiAddress): URL {
  if (url !== '') return new URL(url)
  const origin = URL.canParse(document) ? new URL(document) : undefined
  const found = format === '2.0' ? swaggerServer(root, origin?.href) : serverOf(root, origin?.href)
  if (found === undefined) {
    // Without servers it is where the document is.
    if (origin === undefined || root['servers'] !== undefined) throw new Error(NO_SERVER)
    return new URL('/', origin)
  }
  if (origin !== undefined && found.origin !== origin.origin) {
    throw new Error(`its document, which is from ${origin.origin}, says that the API is at ${found.origin}; set "url" of this server if that is right`)
  }
  return found
}

/** The operations of a document, each with its name, whichever become tools. */
async function findOperations (
  root: Json,
  references: References,
  url: URL,
  address: ApiAddress,
  warnings: Warnings,
  slices: Slices
): Promise<FoundOperation[]> {
  const found: Array<Omit<FoundOperation, 'name'> & { operationId: string | undefined }> = []
  if (isHidden(root)) return []
  const paths = isObject(root['paths']) ? root['paths'] : {}
  for (const path of Object.keys(paths)) {
    await slices.spend(path.length)
    if (!path.startsWith('/')) continue
    if (found.length >= MAX_FOUND) {
      warnings.add(`its document has more than ${MAX_FOUND} operations: those of the paths behind them are left out`)
      break
    }
    const item = paths[path]
    const pathItem = references.follow(item)
    if (pathItem === undefined) warnings.add(() => `path ${quote(path)} is left out: ${whyLost(item)}`)
    if (pathItem === undefined || isHidden(pathItem)) continue
    for (const method of METHODS) {
      const operation = Object.hasOwn(pathItem, method) ? pathItem[method] : undefined
      if (!isObject(operation) || isHidden(operation)) continue
      const basePath = basePathFor([operation, pathItem], url, address)
      if (basePath === undefined) {
        warnings.add(() => `operation ${quote(`${method.toUpperCase()} ${path}`)} is left out: it has a server of its own at another origin; set "url" of this server, or make it a server of its own`)
        continue
      }
      const operationId = textOf(operation['operationId'])
      found.push({ operationId, method: method.toUpperCase(), path, basePath, operation, pathItem })
    }
  }
  const names = await namesOf(found, slices)
  return found.map((each, index) => ({ ...each, name: names[index] as string }))
}

const whyLost = (item: unknown): string => isObject(item) && typeof item['$ref'] === 'string'
  ? `its reference ${quote(item['$ref'])} leads nowhere in its document, and is not followed`
  : 'it is not described by an object'

/** The path before that of an operation; undefined where the operation is at another origin. */
function basePathFor (parts: readonly Json[], url: URL, address: ApiAddress): string | undefined {
  const own = address.url === '' ? parts.find(part => listOf(part['servers']).length > 0) : undefined
  if (own === undefined) return basePathOf(url)
  const server = serverOf(own, url.href)
  return server?.origin === url.origin ? basePathOf(server) : undefined
}

const choosable = ({ method, path, operation }: FoundOperation) => ({
  operationId: textOf(operation['operationId']),
  method,
  path,
  tags: listOf(operation['tags']).filter((tag): tag is string => typeof tag === 'string')
})

function sourceOf (
  root: Json,
  references: References,
  schemas: Schemas,
  url: URL,
  { headers }: ApiAddress,
  { maxSchema }: ApiLimits
): Omit<OperationSource, 'answers'> {
  return {
    root,
    references,
    schemas,
    maxSchema,
    setHeaders: new Set(Object.keys(headers).map(name => name.toLowerCase())),
    setQuery: new Set(url.searchParams.keys()),
    setCookies: cookieNames(Object.entries(headers).flat())
  }
}

function instructionsOf ({ info }: Json): string | undefined {
  if (!isObject(info)) return undefined
  const texts = [textOf(info['title']), textOf(info['description'])].filter(text => text !== undefined)
  return texts.length === 0 ? undefined : texts.join('\n\n')
}
