import { execFile, spawnSync } from 'node:child_process'
import { cpSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { Type } from '@sinclair/typebox'
import { Validator } from '@seriousme/openapi-schema-validator'
import type { FastifyInstance } from 'fastify'
import t from 'tap'
import { tool } from '../../../app.js'
import fixture, { listening } from '../../support/gateway.js'
import { Unreachable } from '../../support/npm-packages.js'
import { folder } from '../../support/process.js'
import { unpacked } from '../../upstreams/openapi/packages.js'

const ROOT = new URL('../../../../', import.meta.url)

/** Tools with the schemas that importers stumble over. */
async function odd (app: FastifyInstance): Promise<void> {
  const children = { type: 'array', items: { $ref: '#/$defs/node' } }
  const node = { type: 'object', properties: { name: { type: 'string' }, children } }
  app.mcp.tools.add(tool({
    name: 'tree',
    description: 'Counts the nodes of a tree',
    input: { type: 'object', properties: { root: { $ref: '#/$defs/node' } }, required: ['root'], $defs: { node } },
    output: Type.Object({ count: Type.Integer() }),
    run: ({ root }) => ({ count: count(root) })
  }))
  app.mcp.tools.add(tool({
    name: 'self.refers',
    description: 'Takes what it is',
    input: { type: 'object', properties: { inner: { $ref: '#' } }, additionalProperties: false },
    run: () => 'done'
  }))
  app.mcp.tools.add(tool({
    name: 'twice',
    description: 'Takes the same twice, as schemas of generators have it',
    input: {
      type: 'object',
      properties: {
        first: { anyOf: [{ type: 'object', properties: { a: { type: 'string' } } }, { type: 'null' }] },
        second: { type: 'array', items: { $ref: '#/properties/first/anyOf/0' } },
        any: true
      }
    },
    run: () => 'done'
  }))
}

interface Tree { children?: Tree[] }
const count = (tree: unknown): number =>
  1 + ((tree as Tree).children ?? []).reduce((sum, child) => sum + count(child), 0)

const options = { rest: true, plugins: [fixture, odd] }

t.test('the document is valid OpenAPI 3.1', async t => {
  const { url } = await listening(t, options)
  const document = await (await fetch(`${url}/api/openapi.json`)).json() as Record<string, unknown>
  const validator = new Validator()
  const { valid, errors } = await validator.validate(structuredClone(document))
  t.equal(valid, true, JSON.stringify(errors)?.slice(0, 1_000))
  t.equal(validator.version, '3.1')
  for (const reference of referencesIn(document)) {
    t.ok(reference.startsWith('#/components/'), reference)
    const target = reference.slice(2).split('/').reduce<unknown>((at, part) => Object(at)[part], document)
    t.not(target, undefined, reference)
  }
})

t.test('a client that a generator made of the document calls three tools', async t => {
  const { url } = await listening(t, options)
  const path = await folder(t, {})
  symlinkSync(fileURLToPath(new URL('node_modules', ROOT)), join(path, 'node_modules'))
  writeFileSync(join(path, 'openapi.json'), await (await fetch(`${url}/api/openapi.json`)).text())
  writeFileSync(join(path, 'package.json'), '{"type":"module"}')
  const run = (...args: string[]) => spawnSync(process.execPath, args, { cwd: path, encoding: 'utf8', timeout: 100_000 })
  const made = run('node_modules/openapi-typescript/bin/cli.js', 'openapi.json', '-o', 'api.ts')
  t.equal(made.status, 0, made.stderr)
  writeFileSync(join(path, 'client.ts'), `
    import createClient from 'openapi-fetch'
    import type { paths } from './api.js'
    const client = createClient<paths>({ baseUrl: ${JSON.stringify(`${url}/api`)} })
    const echoed = await client.POST('/tools/echo', { body: { text: 'hi' } })
    const text: string | undefined = echoed.data?.text
    const sum = await client.POST('/tools/calculate', { body: { operation: 'add', a: 1, b: 2 } })
    const result: number | undefined = sum.data?.result
    const counted = await client.POST('/tools/tree', { body: { root: { children: [{}, { children: [{}] }] } } })
    const nodes: number | undefined = counted.data?.count
    const wrong = await client.POST('/tools/calculate', { body: { operation: 'divide', a: 1, b: 0 } })
    const detail: string | undefined = wrong.error?.detail
    // @ts-expect-error: the document has the types of the arguments
    await client.POST('/tools/echo', { body: { text: 3 } })
    console.log(JSON.stringify([text, result, nodes, wrong.response.status, detail]))`)
  writeFileSync(join(path, 'tsconfig.json'), JSON.stringify({
    compilerOptions: {
      strict: true,
      target: 'ES2023',
      module: 'NodeNext',
      types: ['node'],
      skipLibCheck: true,
      outDir: 'out'
    },
    files: ['client.ts']
  }))
  const compiled = run('node_modules/typescript7/bin/tsc', '-p', '.')
  t.equal(compiled.status, 0, compiled.stdout)
  // Not in step with this process, which has the gateway.
  const { stdout, stderr } = await promisify(execFile)(process.execPath, ['out/client.js'], { cwd: path })
  t.strictSame(JSON.parse(stdout || 'null'), ['hi', 3, 4, 422, 'Error: Division by zero'], stderr)
})

/**
 * Open WebUI makes of each operation with an `operationId` a function: its arguments are the properties of the JSON
 * body, where references are followed through `properties` and `items` without an end, by the parts between their
 * slashes. A schema there that is no object, or has no end, loses all functions of the document.
 */
t.test('an importer of the kind of Open WebUI gets a function with arguments of each tool', async t => {
  const { url } = await listening(t, options)
  const document = await (await fetch(`${url}/api/openapi.json`)).json() as OpenApi
  const functions = Object.values(document.paths).flatMap(methods => Object.values(methods)).map(operation => {
    const { properties = {} } = expand(operation.requestBody.content['application/json'].schema, document) as Schema
    return { name: operation.operationId, description: operation.description, arguments: Object.keys(properties) }
  })
  t.equal(functions.length, Object.keys(document.paths).length)
  t.match(functions.find(({ name }) => name === 'calculate'), { description: String, arguments: ['operation', 'a', 'b'] })
  t.match(functions.find(({ name }) => name === 'tree'), { arguments: ['root'] })
  t.match(functions.find(({ name }) => name === 'twice'), { arguments: ['first', 'second', 'any'] })
  t.equal(new Set(functions.map(({ name }) => name)).size, functions.length)
  // Models take no other names, and refuse all functions with one that has.
  for (const { name } of functions) t.match(name, /^[A-Za-z0-9_-]{1,64}$/)
})

t.test('a package that makes nodes of n8n of documents gets an operation, and a field of each argument, of each tool', async t => {
  const { url } = await listening(t, options)
  const document = await (await fetch(`${url}/api/openapi.json`)).json() as OpenApi
  const path = await folder(t, {})
  try {
    const modules = join(path, 'node_modules')
    cpSync(unpacked('@devlikeapro/n8n-openapi-node', '0.1.4'), join(modules, 'importer'), { recursive: true })
    cpSync(unpacked('lodash', '4.17.21'), join(modules, 'lodash'), { recursive: true })
    cpSync(unpacked('openapi-types', '12.1.3'), join(modules, 'openapi-types'), { recursive: true })
    symlinkSync(fileURLToPath(new URL('node_modules/pino', ROOT)), join(modules, 'pino'))
  } catch (error) {
    if (!(error instanceof Unreachable)) throw error
    process.stderr.write('NOT TESTED: the importer for n8n; the registry of npm cannot be reached\n')
    return t.pass('the registry cannot be reached, which was said aloud')
  }
  writeFileSync(join(path, 'openapi.json'), JSON.stringify(document))
  writeFileSync(join(path, 'run.cjs'), `
    const { N8NPropertiesBuilder } = require('importer')
    const logger = { debug () {}, info () {}, warn: console.error, error: console.error }
    const made = new N8NPropertiesBuilder(require('./openapi.json'), { logger }).build()
    console.log(JSON.stringify(made.filter(({ routing }) => routing?.send?.type === 'body').map(({ name }) => name)))
    const operations = made.filter(({ name, type, routing }) => name === 'operation' && type === 'options' && !routing)
      .flatMap(({ options }) => options)
    console.log(JSON.stringify(operations.map(({ value }) => value)))`)
  const { stdout, stderr } = await promisify(execFile)(process.execPath, ['run.cjs'], { cwd: path })
  const [fields = '', operations = ''] = stdout.split('\n')
  t.equal(stderr, '')
  for (const name of ['operation', 'a', 'b', 'root', 'inner', 'first', 'second', 'any']) t.ok(JSON.parse(fields).includes(name), name)
  t.equal(JSON.parse(operations).length, Object.keys(document.paths).length)
})

/**
 * Importers for workflows such as those of n8n make one HTTP node of each operation: its URL is that of the first
 * server with the path, its body has the properties of the schema.
 */
t.test('an importer of the kind of n8n makes requests that are answered', async t => {
  const { url } = await listening(t, options)
  const document = await (await fetch(`${url}/api/openapi.json`)).json() as OpenApi
  const server = document.servers[0]?.url ?? ''
  t.equal(server, `${url}/api`)
  const bodies: Record<string, object> = {
    '/tools/echo': { text: 'x' },
    '/tools/calculate': { operation: 'add', a: 1, b: 1 }
  }
  for (const [path, body] of Object.entries(bodies)) {
    t.ok(document.paths[path]?.post)
    const accept = 'application/json,text/html,application/xhtml+xml,*/*;q=0.8'
    const headers = { 'content-type': 'application/json', accept }
    const reply = await fetch(server + path, { method: 'POST', headers, body: JSON.stringify(body) })
    t.equal(reply.status, 200, path)
    t.match(reply.headers.get('content-type'), 'application/json')
  }
})

t.test('the document of 1,000 tools is made in 200 ms', async t => {
  const many = async (app: FastifyInstance): Promise<void> => {
    for (let index = 0; index < 1_000; index++) {
      app.mcp.tools.add(tool({
        name: `tool_${index}`,
        description: 'One of many',
        input: Type.Object({ a: Type.String(), b: Type.Optional(Type.Number()) }),
        run: () => 'x'
      }))
    }
  }
  const { app } = await listening(t, { rest: true, tools: false, plugins: [many] })
  let best = Infinity
  for (let round = 0; round < 10 && best > 200; round++) {
    const start = performance.now()
    const reply = await app.inject({ url: '/api/openapi.json' })
    best = Math.min(best, performance.now() - start)
    t.equal(Object.keys(reply.json<OpenApi>().paths).length, 1_000)
  }
  t.ok(best <= 200, `${best} ms`)
})

interface Schema { $ref?: string, properties?: Record<string, unknown>, items?: unknown }
interface Operation {
  operationId: string
  description: string
  requestBody: { content: { 'application/json': { schema: Schema } } }
}
interface OpenApi {
  servers: Array<{ url: string }>
  paths: Record<string, { post: Operation }>
  components: unknown
}

function expand (schema: unknown, document: OpenApi): unknown {
  if (typeof schema !== 'object' || schema === null) throw new TypeError(`${String(schema)} is no object`)
  const { $ref, ...rest } = schema as Schema
  if ($ref !== undefined) {
    const parts = $ref.replace(/^[#/]+/, '').split('/').slice(1)
    return expand(parts.reduce<unknown>((at, part) => {
      if (Array.isArray(at)) throw new TypeError(`${$ref} leads through a list`)
      return Object(at)[part] ?? {}
    }, document.components), document)
  }
  const { properties = {}, items = {} } = rest
  const inner = Object.entries(properties).map(([name, each]) => [name, expand(each, document)])
  return { ...rest, properties: Object.fromEntries(inner), items: 'items' in rest ? expand(items, document) : undefined }
}

function referencesIn (value: unknown): string[] {
  if (typeof value !== 'object' || value === null) return []
  const { $ref } = value as { $ref?: unknown }
  return [...(typeof $ref === 'string' ? [$ref] : []), ...Object.values(value).flatMap(referencesIn)]
}
