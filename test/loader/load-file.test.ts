import { join } from 'node:path'
import t, { type Test } from 'tap'
import { build, createClient } from '../../app.js'
import { folder } from '../support/process.js'
import { until } from '../support/wait.js'
import { stopTime } from '../support/clocks.js'

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
  [
    'exports a list with something else in it',
    'p.ts',
    'export default [7]',
    /p\.ts: the default export must be a tool/
  ],
  [
    'fails when it is registered',
    'p.ts',
    '\n\nexport default async function () { throw new Error("no database") }',
    /p\.ts: no database \(line \d\)/
  ],
  [
    'describes a tool that cannot be',
    'p.ts',
    'import { tool } from "mcp-patchbay"; export default tool({ name: "a b", description: "", run: () => "" })',
    /p\.ts: tool name "a b"/
  ],
  [
    'takes a name that is taken',
    'p.ts',
    'import { tool } from "mcp-patchbay"; export default tool({ name: "calculate", description: "", run: () => "" })',
    /p\.ts: there is a tool "calculate" in .*\/tools\/calculate\.ts already; choose another name$/
  ],
  [
    'needs a package that is not there',
    'p.ts',
    '\nimport "no-such-package"',
    /p\.ts: the package "no-such-package" is not installed; run "npm i no-such-package" in \/.* \(line 2\)/
  ],
  [
    'requires a package that is not there',
    'p.cjs',
    '\nrequire("no-such-package")',
    /p\.cjs: the package "no-such-package" is not installed; run "npm i no-such-package" in \/.* \(line 2\)/
  ],
  [
    'needs a file that is not there',
    'p.ts',
    'import "./no-such-file.js"',
    /p\.ts: there is no file \/.*no-such-file\.js \(line 1\)/
  ],
  [
    'needs a file by a name with a slip in it',
    'plugin.ts',
    'import "./plugn.js"',
    /there is no file \/.*plugn\.js; did you mean "plugin\.ts"\? \(line 1\)/
  ],
  [
    'imports what the checkout has',
    'p.ts',
    'import { tool } from "../protocol/tool.js"\nexport default tool({})',
    /outside of it write: import \{ tool \} from 'mcp-patchbay' \(line 1\)/
  ],
  [
    'imports what the checkout has by its path of today',
    'p.ts',
    'import { ToolError } from "../protocol/wire/errors.js"\nthrow new ToolError("")',
    /outside of it write: import \{ ToolError \} from 'mcp-patchbay' \(line 1\)/
  ],
  [
    'exports a plain object with run',
    'p.ts',
    'export default { name: "a", description: "", run: () => "" }',
    /must be a tool.*; wrap it: export default tool\(/
  ],
  [
    'exports a plain object with uri',
    'p.ts',
    'export default [{ uri: "a://b", read: () => "" }]',
    /; wrap it: export default resource\(/
  ],
  [
    'exports a plain object with get',
    'p.ts',
    'export default { name: "a", get: () => "" }',
    /; wrap it: export default prompt\(/
  ],
  [
    'has named exports only',
    'p.ts',
    'import { tool } from "mcp-patchbay"; export const one = tool({ name: "one", description: "", run: () => "" }), n = 1',
    /there is no default export, only "n", "one"; write "export default one"/
  ],
  [
    'is an ES module with require',
    'p.mjs',
    'const { tool } = require("mcp-patchbay")',
    /require is not defined.*use import and export, or name it \.cjs \(line 1\)/
  ],
  [
    'is CommonJS with import',
    'p.cjs',
    'import { tool } from "mcp-patchbay"',
    /the file is CommonJS: name it \.mjs or \.ts/
  ],
  ['is JavaScript that cannot be read', 'p.mjs', '\n\nexport default tool({', /p\.mjs: .* \(line 3, column \d+\)/],
  [
    'imports a name that is not exported',
    'p.mjs',
    '\nimport { toool } from "mcp-patchbay"',
    /does not provide an export named 'toool' \(line 2\)/
  ],
  [
    'takes a uri that is taken',
    'p.ts',
    'import { resource } from "mcp-patchbay"; export default resource({ uri: "note:///{id}", name: "n", read: () => "" })',
    /there is a resource "note:\/\/\/\{id\}" already; choose another uri/
  ]
]

for (const [what, name, source, says] of MISTAKES) {
  t.test(`a file that ${what} is named with the reason`, async t => await t.rejects(load(t, name, source), says))
}

t.test('a file that is not there is named', async t => {
  await t.rejects(build({ plugins: ['/nowhere/p.ts'], http: false }), /\/nowhere\/p\.ts/)
})

t.test('what an author imports from here is the very same thing the gateway uses', async t => {
  const app = await load(
    t,
    'p.ts',
    `
    import { Type } from '@sinclair/typebox'
    import { tool, ToolError, McpError } from 'mcp-patchbay'
    export default [
      tool({ name: 'fails', description: '', run: () => { throw new ToolError('in its own words') } }),
      tool({ name: 'typed', description: '', input: Type.Object({ n: Type.Number() }), run: ({ n }: { n: number }) => n * 2 })
    ]`
  )
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

t.test('require finds this package where nothing is installed, and it is the very same', async t => {
  const app = await load(t, 'p.cjs', `
    const { tool, ToolError } = require('mcp-patchbay')
    module.exports = tool({ name: 'fails', description: '', run: () => { throw new ToolError('in its own words') } })`)
  t.match(await (await createClient(app)).request('tools/call', { name: 'fails' }), {
    isError: true,
    content: [{ text: 'in its own words' }]
  })
})

/** Starts a gateway with one file, and gives the warnings of its log. */
async function warnings (
  t: Test,
  source: string,
  act: (lines: string[]) => Promise<void> = async () => {}
): Promise<string[]> {
  const lines: string[] = []
  const logger = {
    level: 'warn',
    stream: {
      write: (line: string) => {
        lines.push((JSON.parse(line) as { msg: string }).msg)
      }
    }
  }
  const file = join(await folder(t, { 'p.ts': source }), 'p.ts')
  const app = build({ plugins: [file], http: false }, { logger, pluginTimeout: 60_000 })
  t.teardown(async () => await (await app).close())
  await act(lines)
  await app
  return lines
}

t.test('a definition that is exported beside the default export and not part of it is named in a warning', async t => {
  const make = (name: string): string => `tool({ name: '${name}', description: '', run: () => '' })`
  const lines = await warnings(t, `import { tool } from 'mcp-patchbay'
    export const used = ${make('used')}
    export const forgotten = ${make('forgotten')}
    export const n = 1
    export default [used, ${make('other')}]`)
  t.strictSame(
    lines.map(line => line.replace(/plugin .*p\.ts/, 'p.ts')),
    ['p.ts: the export "forgotten" is not served, because it is not part of the default export']
  )
})

t.test('a plugin that does not call done is named in the log while the start waits for it', async t => {
  const { pass } = stopTime(t)
  const lines = await warnings(
    t,
    'export default function (fastify, options, done) { globalThis.finish = done }',
    async lines => {
      await until(async () => {
        await pass(20)
        return lines.length > 0
      }, 'the warning')
      ;(globalThis as unknown as { finish: () => void }).finish()
    }
  )
  t.match(lines, [/plugin .*p\.ts: still waiting for it; its function has to call done\(\)/])
})

const ENDLESS: Array<[what: string, source: string, says: RegExp]> = [
  [
    'a top-level await that never settles',
    'await new Promise(() => {})\nexport default []',
    /p\.mjs: it did not end within \d+ s; a top-level await in it, or in a file that it imports, has to settle$/
  ],
  [
    'an async function that never ends',
    'export default async () => await new Promise(() => {})',
    /p\.mjs: it did not end within \d+ s; its function has to call done\(\), or to be async and end$/
  ],
  [
    'a function that does not call done',
    'export default (app, options, done) => {}',
    /p\.mjs: it did not end within \d+ s; its function has to call done\(\)/
  ]
]

for (const [what, source, says] of ENDLESS) {
  t.test(`${what} ends the start with a sentence that names the file`, async t => {
    const file = join(await folder(t, { 'p.mjs': source }), 'p.mjs')
    const { pass } = stopTime(t)
    let isOver = false
    const rejected = t
      .rejects(build({ plugins: [file], http: false, tools: false }, { pluginTimeout: 6_000 }), { message: says })
      .finally(() => {
        isOver = true
      })
    await until(async () => { await pass(20); return isOver }, 'the end of the start')
    await rejected
  })
}

t.test('the log says that a top-level await is waited for', async t => {
  const { pass } = stopTime(t)
  const lines = await warnings(
    t,
    'await new Promise(resolve => { globalThis.settle = resolve })\nexport default []',
    async lines => {
      await until(async () => {
        await pass(20)
        return lines.length > 0
      }, 'the warning')
      ;(globalThis as unknown as { settle: () => void }).settle()
    }
  )
  t.match(lines, [/plugin .*p\.ts: still waiting for it; a top-level await in it/])
})
