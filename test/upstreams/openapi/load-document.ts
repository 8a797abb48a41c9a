import { existsSync, readFileSync } from 'node:fs'
import { basename } from 'node:path'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { repairEntry } from '../../../upstreams/lists/repair/entry.js'
import { readApi, type Api } from '../../../upstreams/openapi/api.js'
import { parseDocument } from '../../../upstreams/openapi/document/parse.js'

/** What became of a document, and what that cost. */
export interface Outcome {
  readonly operations: number
  readonly tools: number
  readonly leftOut: readonly string[]
  readonly warnings: readonly string[]
  /** Sentences about tools that clients could not use. */
  readonly faults: readonly string[]
  /** CPU time in milliseconds, and the most memory in MiB, before the tools were looked at. */
  readonly ms: number
  readonly mib: number
}

type Json = Record<string, unknown>
interface Listed { readonly name: string, readonly inputSchema: Json }

const METHODS = ['get', 'head', 'post', 'put', 'patch', 'delete', 'options', 'trace']
/** As by default. */
const LIMITS = { maxOperations: 10_000, maxSchema: 32_768 }

/** Reads a document as an upstream does, and each `every`th of its schemas as a client does. */
export async function loadDocument (file: string, every = 1): Promise<Outcome> {
  const before = process.cpuUsage()
  const document = await parseDocument(readFileSync(file), basename(file))
  const api = await readApi(document, {
    kind: 'openapi', document: file, url: 'http://127.0.0.1:9/', headers: {}, operations: { methods: METHODS }
  }, LIMITS)
  const { user, system } = process.cpuUsage(before)
  const leftOut = api.warnings.filter(warning => warning.startsWith('operation '))
  return {
    operations: operationsIn(document.root),
    tools: api.tools.length,
    leftOut,
    warnings: api.warnings.filter(warning => !leftOut.includes(warning)),
    ms: Math.round((user + system) / 1_000),
    mib: Math.round(mostMemory() / 1_024),
    faults: faultsIn(api, every)
  }
}

/** The most memory so far, in KiB. On Linux `maxRSS` begins with that of the process that started this one. */
function mostMemory (): number {
  const status = existsSync('/proc/self/status') ? readFileSync('/proc/self/status', 'latin1') : ''
  const [, peak] = /^VmHWM:\s+(\d+) kB/m.exec(status) ?? []
  return peak === undefined ? process.resourceUsage().maxRSS : Number(peak)
}

function operationsIn (root: Json): number {
  return Object.entries(Object(root['paths']) as Record<string, Json>).reduce((sum, [path, item]) => {
    const found = typeof item?.['$ref'] === 'string' ? at(root, item['$ref']) as Json : item
    return sum + (path.startsWith('/') ? METHODS.filter(method => typeof found?.[method] === 'object').length : 0)
  }, 0)
}

const at = (root: unknown, pointer: string): unknown => pointer.split('/').slice(1).reduce<unknown>(
  (value, part) => Object(value)[decodeURIComponent(part).replaceAll('~1', '/').replaceAll('~0', '~')], root
)

function faultsIn ({ tools }: Api, every: number): string[] {
  const ajv = new Ajv2020({ strict: false, validateFormats: false, logger: false })
  const faults: string[] = []
  const names = new Set<string>()
  for (const [index, tool] of (tools as unknown as Listed[]).entries()) {
    const { name, inputSchema } = tool
    const say = (what: string): void => { faults.push(`${name}: ${what}`) }
    if (names.has(name) || !/^[A-Za-z0-9_-]{1,49}$/.test(name)) say('not a name, or not the only one')
    names.add(name)
    if (JSON.stringify(inputSchema).length > LIMITS.maxSchema) say('its schema is too long')
    const repaired = repairEntry('tools', tool as unknown as Json, 'safe')
    if (typeof repaired === 'string') say(repaired)
    else if (repaired.changes.some(change => change.includes('any arguments are listed'))) say(repaired.changes.join())
    for (const reference of referencesIn(inputSchema)) {
      if (!reference.startsWith('#/') || at(inputSchema, reference) === undefined) say(`${reference} leads nowhere`)
    }
    if (ajv.validateSchema(inputSchema) !== true) say(ajv.errorsText())
    if (index % every === 0) compile(ajv, inputSchema, say)
  }
  return faults
}

function compile (ajv: Ajv2020, schema: Json, say: (what: string) => void): void {
  try {
    ajv.compile(schema)
    ajv.removeSchema(schema)
  } catch (error) {
    say((error as Error).message)
  }
}

function referencesIn (value: unknown): string[] {
  if (typeof value !== 'object' || value === null) return []
  const { $ref } = value as Json
  return [...typeof $ref === 'string' ? [$ref] : [], ...Object.values(value).flatMap(referencesIn)]
}

// As a program: each document has a process of its own, whose memory is that of the document.
if (process.argv[1]?.endsWith('load-document.js') === true) {
  process.stdout.write(JSON.stringify(await loadDocument(process.argv[2] ?? '', Number(process.argv[3]))))
}
