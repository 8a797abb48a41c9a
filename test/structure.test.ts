import { existsSync, readFileSync } from 'node:fs'
import t from 'tap'
import { Options } from '../options.js'
import { followsFloors, importCircles } from './import-graph.js'
import {
  avoids,
  beginsCommentsPlainly,
  dialsOnly,
  followsLayers,
  hasShortFunctions,
  importsOf,
  isAtMost,
  keepsPluginsApart,
  keepsProtocolPure,
  makesNoWireError,
  namesNoRevision,
  parse,
  sources,
  type Rule
} from './structure.js'

const shipped = sources()
const read = sources(path => !path.startsWith('test/') || path.startsWith('test/support/'))

interface Tried {
  rule: Rule
  among?: typeof shipped
  except?: RegExp
  wrong: [path: string, text: string, offence: string][]
  right: [path: string, text: string][]
}

const rules: Record<string, Tried> = {
  'a folder imports only the folders below it': {
    rule: followsLayers,
    wrong: [
      ['cli.ts', 'import x from "./transports/stdio.js"', 'cli.ts:1 imports ./transports/stdio.js'],
      ['app.ts', '\nimport x from "./cli.js"', 'app.ts:2 imports ./cli.js'],
      ['plugins/a.ts', 'import x from "../routes/mcp.js"', 'plugins/a.ts:1 imports ../routes/mcp.js'],
      ['plugins/a.ts', 'import type { X } from "../app.js"', 'plugins/a.ts:1 imports ../app.js'],
      ['transports/a.ts', 'export * from "../routes/mcp.js"', 'transports/a.ts:1 imports ../routes/mcp.js'],
      ['tools/a.ts', 'const x = await import("../stores/b.js")', 'tools/a.ts:1 imports ../stores/b.js'],
      ['upstreams/a.ts', 'import x from "../plugins/b.js"', 'upstreams/a.ts:1 imports ../plugins/b.js'],
      ['protocol/revisions/a.ts', 'let x: import("../../plugins/b.js").X', 'protocol/revisions/a.ts:1 imports ../../plugins/b.js'],
      ['protocol/a.ts', 'import x from "../system/b.js"', 'protocol/a.ts:1 imports ../system/b.js'],
      ['system/a.ts', 'import x from "../protocol/b.js"', 'system/a.ts:1 imports ../protocol/b.js'],
      ['lib/a.ts', 'import x from "../protocol/b.js"', 'lib/a.ts:1 imports ../protocol/b.js'],
      ['plugins/core/a.ts', 'import type { Options } from "../../options.js"', 'plugins/core/a.ts:1 imports ../../options.js'],
      ['new/a.ts', 'import x from "../protocol/b.js"', 'new/a.ts:1 imports ../protocol/b.js'],
      ['console/try/a.tsx', 'import x from "../../protocol/b.js"', 'console/try/a.tsx:1 imports ../../protocol/b.js'],
      ['console/client/watch-batch.ts', 'import x from "../../protocol/watch/batch.js"', 'console/client/watch-batch.ts:1 imports ../../protocol/watch/batch.js'],
      ['console/client/contract.ts', 'import x from "../../protocol/revisions/table.js"', 'console/client/contract.ts:1 imports ../../protocol/revisions/table.js'],
      ['console/state/costs.ts', 'import x from "../../lib/slices.js"', 'console/state/costs.ts:1 imports ../../lib/slices.js'],
      ['routes/console.ts', 'import x from "../console/main.js"', 'routes/console.ts:1 imports ../console/main.js']
    ],
    right: [
      ['cli.ts', 'import { build } from "./app.js"; import x from "./options.js"'],
      ['app.ts', 'import x from "./plugins/a.js"; export * from "./protocol/b.js"'],
      ['routes/a.ts', 'import x from "../transports/a.js"; import fastify from "fastify"'],
      ['transports/a.ts', 'import x from "./b.js"; import y from "../protocol/c.js"'],
      ['protocol/revisions/a.ts', 'import x from "../b.js"'],
      ['plugins/a.ts', 'import x from "../system/b.js"'],
      ['upstreams/config/a.ts', 'import { Server } from "../../options/upstreams.js"'],
      ['tools/a.ts', '// import x from "../routes/mcp.js"'],
      ['console/try/a.tsx', 'import { signal } from "@preact/signals"; import x from "../parts/b.js"; import "../style/main.css"'],
      ['console/client/watch-batch.ts', 'import type { X } from "../../protocol/watch/batch.js"; export type * from "../../protocol/watch/batch.js"'],
      ['console/client/contract.ts', 'import { NEWEST } from "../../protocol/revisions/newest.js"'],
      ['console/apps/page.ts', 'import { isSource } from "../../lib/origins.js"'],
      ['console/state/costs.ts', 'import { estimateTokens } from "../../lib/token-estimate.js"'],
      ['routes/console.ts', 'import x from "./console/files.js"']
    ]
  },
  'upstreams import only the transports that dial': {
    rule: dialsOnly,
    wrong: [['upstreams/a/b.ts', 'import x from "../../transports/stdio/serve.js"', 'upstreams/a/b.ts:1 imports ../../transports/stdio/serve.js']],
    right: [['upstreams/a.ts', 'import x from "../transports/client/stdio.js"; import y from "../system/b.js"'], ['routes/a.ts', 'import x from "../transports/http/b.js"']]
  },
  'a plugin imports another one for its types only': {
    rule: keepsPluginsApart,
    wrong: [
      ['plugins/a.ts', 'import { b } from "./b.js"', 'plugins/a.ts:1 imports ./b.js'],
      ['plugins/a.ts', 'import { type B } from "./b.js"', 'plugins/a.ts:1 imports ./b.js'],
      ['plugins/a.ts', 'import { c } from "./b/c.js"', 'plugins/a.ts:1 imports ./b/c.js'],
      ['plugins/core/a.ts', 'import { b } from "./b.js"', 'plugins/core/a.ts:1 imports ./b.js'],
      ['plugins/core/a/b.ts', 'import { c } from "../c.js"', 'plugins/core/a/b.ts:1 imports ../c.js']
    ],
    right: [['plugins/core/a/b.ts', 'import { c } from "./c.js"'], ['plugins/a.ts', 'import type { B } from "./b.js"'], ['plugins/a.ts', 'import { c } from "./a/c.js"'], ['transports/a.ts', 'import { b } from "./b.js"']]
  },
  'a folder of the protocol imports only those on lower floors': {
    rule: followsFloors,
    wrong: [
      ['protocol/wire/a.ts', 'import x from "../schema/b.js"', 'protocol/wire/a.ts:1 imports ../schema/b.js'],
      ['protocol/store.ts', 'import type { X } from "./sessions/b.js"', 'protocol/store.ts:1 imports ./sessions/b.js'],
      ['protocol/peer/a.ts', 'import type { Call } from "../dispatch/call.js"', 'protocol/peer/a.ts:1 imports ../dispatch/call.js'],
      ['protocol/http/a.ts', 'import x from "../revisions/b.js"', 'protocol/http/a.ts:1 imports ../revisions/b.js'],
      ['protocol/wire/a.ts', 'import x from "../store.js"', 'protocol/wire/a.ts:1 imports ../store.js'],
      ['protocol/dispatch/a.ts', 'import x from "../new/b.js"', 'protocol/dispatch/a.ts:1 imports ../new/b.js']
    ],
    right: [
      ['protocol/dispatch/a.ts', 'import x from "./b.js"; import y from "../store.js"; import z from "../wire/c.js"; import fs from "node:fs"'],
      ['plugins/a.ts', 'import x from "../protocol/dispatch/b.js"']
    ]
  },
  'the protocol knows only Node.js, ajv and typebox': {
    rule: keepsProtocolPure,
    wrong: [
      ['protocol/a.ts', 'import type { FastifyInstance } from "fastify"', 'protocol/a.ts:1 imports fastify'],
      ['protocol/a.ts', 'const x = require("ajv-formats")', 'protocol/a.ts:1 imports ajv-formats']
    ],
    right: [
      ['protocol/a.ts', 'import x from "node:crypto"; import y from "ajv/dist/2020.js"; import { Type } from "@sinclair/typebox"'],
      ['plugins/a.ts', 'import fp from "fastify-plugin"']
    ]
  },
  'only the command and system look at the process': {
    rule: avoids('process'),
    except: /^(cli\.ts$|cli\/|system\/)/,
    wrong: [
      ['app.ts', 'const port = process.env.PORT', 'app.ts:1 uses process'],
      ['app.ts', 'const { env } = process', 'app.ts:1 uses process'],
      ['app.ts', 'import { env } from "node:process"', 'app.ts:1 imports node:process']
    ],
    right: [['app.ts', 'child.process.kill(); const { process: child } = message // process.exit']]
  },
  'nothing writes to the console': {
    rule: avoids('console'),
    wrong: [['cli.ts', '\n\nconsole.log(1)', 'cli.ts:3 uses console']],
    right: [['cli.ts', 'const text = "console.log"']]
  },
  'only the tables of errors make errors that cross the wire': {
    rule: makesNoWireError,
    except: /^protocol\/(wire\/(mcp-error|errors)|http\/http-errors)\.ts$/,
    wrong: [
      ['tools/a.ts', '\nthrow new McpError(-32603, "no")', 'tools/a.ts:2 makes an error outside the tables'],
      ['routes/a.ts', 'done(new HttpError("PATCHBAY_A", 400, "no"))', 'routes/a.ts:1 makes an error outside the tables']
    ],
    right: [['tools/a.ts', 'throw new ToolError("no") // new McpError(1)'], ['routes/a.ts', 'throw httpErrors.draining()']]
  },
  'only protocol/revisions names a revision; the forms of the console have examples of dates, and apps their own version': {
    rule: namesNoRevision,
    except: /^(protocol\/revisions\/|console\/forms\/|console\/apps\/host\.ts$)/,
    wrong: [
      ['app.ts', 'const newest = "2025-11-25"', 'app.ts:1 names the revision "2025-11-25"'],
      ['console/client/contract.ts', 'const newest = "2025-11-25"', 'console/client/contract.ts:1 names the revision "2025-11-25"'],
      ['app.ts', 'const link = `/2025-11-25/${page}`', 'app.ts:1 names the revision `/2025-11-25/${'] // eslint-disable-line no-template-curly-in-string
    ],
    right: [['app.ts', '// see /specification/2025-11-25\nconst when = "2025-11-25T00:00:00Z"']]
  },
  'a comment begins with a verb or a noun': {
    rule: beginsCommentsPlainly,
    among: read,
    wrong: [
      ['a.ts', '/** What a file exports. */', 'a.ts:1 begins a comment with What'],
      ['a.ts', '/** The same for folders. */', 'a.ts:1 begins a comment with The same'],
      ['a.ts', 'x()\n// Whether it runs.', 'a.ts:2 begins a comment with Whether'],
      ['a.ts', '/**\n * Those that wait.\n */', 'a.ts:2 begins a comment with Those'],
      ['a.ts', '/** One. */\n/** What else. */', 'a.ts:2 begins a comment with What']
    ],
    right: [
      ['a.ts', '/** True when it runs. What else? */'],
      ['a.ts', '// Waits for it.\n// What comes later is ignored.'],
      ['a.ts', '/**\n * Waits for it.\n * Those that wait longer are dropped.\n */'],
      ['a.ts', '/** Waits for it.\n * What comes later is ignored. */'],
      ['a.ts', 'const text = "What"']
    ]
  },
  'no file is longer than 250 lines': {
    rule: isAtMost(250),
    wrong: [['app.ts', 'x\n'.repeat(251), 'app.ts:251 is longer than 250 lines']],
    right: [['app.ts', 'x\n'.repeat(250)]]
  },
  'no function is longer than 60 lines': {
    rule: hasShortFunctions(60),
    wrong: [
      ['app.ts', `\nfunction a () {\n${'x\n'.repeat(59)}}`, 'app.ts:2 is a function of 61 lines'],
      ['app.ts', `export default fp(async app => {\n${'x\n'.repeat(60)}})`, 'app.ts:1 is a function of 62 lines']
    ],
    right: [['app.ts', `function a () {\n${'x\n'.repeat(58)}}`]]
  }
}

t.test('the rules have files to look at', async t => {
  const paths = shipped.map(source => source.fileName)
  for (const path of [
    'app.ts',
    'cli.ts',
    'protocol/wire/errors.ts',
    'plugins/core/mcp.ts',
    'console/main.tsx',
    'console/login/credential.ts'
  ]) {
    t.ok(paths.includes(path), path)
  }
  t.ok(shipped.some(source => importsOf(source).length > 0))
})

for (const [sentence, { rule, among = shipped, except, wrong, right }] of Object.entries(rules)) {
  t.test(sentence, async t => {
    const offences = among.filter(source => except?.test(source.fileName) !== true).flatMap(rule)
    t.strictSame(offences, [])
  })

  t.test(`${sentence}: the rule reports offences and nothing else`, async t => {
    for (const [path, text, offence] of wrong) t.strictSame(rule(parse(path, text)), [offence], text)
    for (const [path, text] of right) t.strictSame(rule(parse(path, text)), [], text)
  })
}

t.test('no import is part of a circle, types included', async t => {
  t.strictSame(importCircles(shipped), [])
})

t.test('no import is part of a circle: the rule finds each one', async t => {
  const circlesOf = (files: Record<string, string>): string[] =>
    importCircles(Object.entries(files).map(([path, text]) => parse(path, text)))
  t.strictSame(circlesOf({ 'a.ts': 'import b from "./b.js"', 'b.ts': 'import type { A } from "./a.js"' }), [
    'a.ts -> b.ts -> a.ts'
  ])
  t.strictSame(
    circlesOf({
      'a.ts': 'import "./x/b.js"',
      'x/b.ts': 'export * from "./c.js"',
      'x/c.ts': 'let x: import("../x/b.js").X'
    }),
    ['x/b.ts -> x/c.ts -> x/b.ts']
  )
  t.strictSame(circlesOf({ 'a.ts': 'import "./a.js"' }), ['a.ts -> a.ts'])
  t.strictSame(circlesOf({ 'console/a.tsx': 'import "./b.js"', 'console/b.ts': 'import "./a.js"' }), [
    'console/a.tsx -> console/b.ts -> console/a.tsx'
  ])
  t.strictSame(
    circlesOf({ 'a.ts': 'import "./b.js"; import "./c.js"', 'b.ts': 'import "./c.js"', 'c.ts': 'import "node:fs"' }),
    []
  )
})

t.test('there are at most 60 options, and other bounds are members of limits', async t => {
  const count = Object.keys(Options.properties).length
  t.ok(count > 40 && count <= 60, `${count} options`)
})

t.test('at most 18 % of the files have under 25 lines', async t => {
  const lines = shipped.map(({ text }) => text.trimEnd().split('\n').length)
  const share = lines.filter(count => count < 25).length / lines.length
  t.ok(share > 0 && share <= 0.18, `${(100 * share).toFixed(1)} %`)
})

/** The folders that neither docs/architecture.md nor a README names, by paths of files. */
function unnamedFolders (paths: string[], readPage: (path: string) => string | undefined): string[] {
  const folders = new Set(paths.flatMap(path => {
    const parts = path.split('/').slice(0, -1)
    return parts.map((_, at) => parts.slice(0, at + 1).join('/'))
  }))
  const pages = ['docs/architecture.md', ...[...folders].map(folder => `${folder}/README.md`)]
  const named = new Set(pages.flatMap(page => {
    const place = page === 'docs/architecture.md' ? '' : page.replace('README.md', '')
    const text = readPage(page)
    const names = [...text?.matchAll(/`([\w/-]+)\/`/g) ?? []].map(([, name]) => name as string)
    return text === undefined ? [] : [place.slice(0, -1), ...names, ...names.map(name => place + name)]
  }))
  return [...folders].filter(folder => !named.has(folder)).sort()
}

t.test('docs/architecture.md or a README says what each folder of the product is', async t => {
  const root = new URL('../../', import.meta.url)
  const readPage = (path: string): string | undefined => {
    const file = new URL(path, root)
    return existsSync(file) ? readFileSync(file, 'utf8') : undefined
  }
  const paths = shipped.map(({ fileName }) => fileName)
  t.strictSame(unnamedFolders(paths, readPage), [], 'add a sentence to docs/architecture.md')
  const without = unnamedFolders(paths, path => readPage(path)?.replace('`plugins/curation/search/`', ''))
  t.strictSame(without, ['plugins/curation/search'], 'and the rule finds each one that is missing')
})
