import { join } from 'node:path'
import t, { type Test } from 'tap'
import { build, createClient } from '../../app.js'
import { folder } from '../support/process.js'

/** Starts a gateway with one file of an author. */
async function load (t: Test, name: string, source: string) {
  const file = join(await folder(t, { [name]: source }), name)
  const app = await build({ plugins: [file], http: false })
  t.teardown(async () => await app.close())
  return app
}

const MISTAKES: Array<[what: string, name: string, source: string, says: RegExp]> = [
  ['throws text', 'p.ts', 'throw "no database"', /p\.ts: no database/],
  ['throws null', 'p.ts', 'throw null', /p\.ts: null/],
  ['has no default export', 'p.ts', 'export const tool = 1', /p\.ts: there is no default export/],
  ['exports null', 'p.ts', 'export default null', /p\.ts: the default export must be a tool/],
  ['exports a list with something else in it', 'p.ts', 'export default [7]', /p\.ts: the default export must be a tool/],
  ['fails when it is registered', 'p.ts', '\n\nexport default async function () { throw new Error("no database") }', /p\.ts: no database \(line \d\)/],
  ['describes a tool that cannot be', 'p.ts', 'import { tool } from "mcp-patchbay"; export default tool({ name: "a b", description: "", run: () => "" })', /p\.ts: tool name "a b"/],
  ['takes a name that is taken', 'p.ts', 'import { tool } from "mcp-patchbay"; export default tool({ name: "calculate", description: "", run: () => "" })', /p\.ts: there is a tool "calculate" in .*calculate\.js already/],
  ['needs a package that is not there', 'p.ts', 'import "no-such-package"', /p\.ts: .*no-such-package/],
  ['needs a file that is not there', 'p.ts', 'import "./no-such-file.js"', /p\.ts: .*no-such-file/]
]

for (const [what, name, source, says] of MISTAKES) {
  t.test(`a file that ${what} is named with the reason`, async t => await t.rejects(load(t, name, source), says))
}

t.test('a file that is not there is named', async t => {
  await t.rejects(build({ plugins: ['/nowhere/p.ts'], http: false }), /\/nowhere\/p\.ts/)
})

t.test('what an author imports from here is the very same thing the gateway uses', async t => {
  const app = await load(t, 'p.ts', `
    import { Type } from '@sinclair/typebox'
    import { tool, ToolError, McpError } from 'mcp-patchbay'
    export default [
      tool({ name: 'fails', description: '', run: () => { throw new ToolError('in its own words') } }),
      tool({ name: 'typed', description: '', input: Type.Object({ n: Type.Number() }), run: ({ n }: { n: number }) => n * 2 })
    ]`)
  const { request } = await createClient(app)
  t.match(await request('tools/call', { name: 'fails' }), { isError: true, content: [{ text: 'in its own words' }] })
  t.match(await request('tools/call', { name: 'typed', arguments: { n: 21 } }), { content: [{ text: '42' }] })
})

t.test('files of an author import each other with or without an extension', async t => {
  const path = await folder(t, {
    'a.ts': 'export const a: number = 1',
    'b.ts': 'export const b: number = 2',
    'c.mts': 'export const c: number = 3',
    'p.ts': `import { tool } from 'mcp-patchbay'
      import { a } from './a'
      import { b } from './b.js'
      import { c } from './c.mjs'
      export default tool({ name: 'sum', description: '', run: () => a + b + c })`
  })
  const app = await build({ plugins: [join(path, 'p.ts')], http: false })
  t.teardown(async () => await app.close())
  t.match(await (await createClient(app)).request('tools/call', { name: 'sum' }), { content: [{ text: '6' }] })
})

t.test('a plugin may be given as a function, too', async t => {
  const app = await build({ plugins: [async fastify => { fastify.decorate('mine', 7) }], http: false })
  t.teardown(async () => await app.close())
  await app.ready()
  t.equal(app.hasDecorator('mcp'), true)
})
