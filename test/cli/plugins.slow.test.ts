import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { folder, initialize, launch, toolCall } from '../support/process.js'

const TYPESCRIPT = `
import { Type } from '@sinclair/typebox'
import { tool, ToolError, type Call } from 'mcp-patchbay'
import { twice } from './twice.js'
import { thrice } from './thrice.ts'

enum Mood { Calm = 'calm', Loud = 'loud' }
const enum Level { Low = 1 }
namespace Names { export const tool = 'typescript' }

export default tool({
  name: Names.tool,
  description: 'Everything TypeScript has',
  input: Type.Object({ mood: Type.Enum(Mood), n: Type.Number() }),
  run: ({ mood, n }: { mood: Mood, n: number }, call: Call) => {
    if (n < 0) throw new ToolError('not below zero')
    return (mood satisfies string) + ' ' + twice(n) + ' ' + thrice(n) + ' ' + Level.Low + ' ' + (call.signal as AbortSignal).aborted
  }
})
`

const FILES = {
  'typescript.ts': TYPESCRIPT,
  'twice.ts': 'export function twice (n: number): number { return 2 * n }',
  'thrice.ts': 'export const thrice = <N extends number>(n: N): number => 3 * n',
  'module.mjs':
    'import { tool } from "mcp-patchbay"\nexport default tool({ name: "module", description: "", run: () => "module" })',
  'script.js':
    'import { tool } from "mcp-patchbay"\nexport default tool({ name: "script", description: "", run: () => "script" })',
  'list.ts': `import { tool, resource, prompt } from 'mcp-patchbay'
    export default [
      tool({ name: 'listed', description: '', run: () => 'listed' }),
      [resource({ uri: 'listed://it', name: 'listed', read: () => 'listed' })],
      prompt({ name: 'listed', get: () => 'listed' })
    ]`,
  'plugin.ts': `import { tool } from 'mcp-patchbay'
    import type { FastifyInstance } from 'fastify'
    export default async function (fastify: FastifyInstance): Promise<void> {
      fastify.mcp.tools.add(tool({ name: 'plugin', description: '', run: () => 'plugin' }))
      fastify.get('/own', async () => ({ own: true }))
    }`
}

t.test('TypeScript and JavaScript files of an author work anywhere, with nothing installed', async t => {
  const cwd = await folder(t, FILES)
  const launched = launch(
    t,
    [
      '--stdio',
      '--port',
      '0',
      ...['typescript.ts', 'module.mjs', 'script.js', 'list.ts', 'plugin.ts'].flatMap(file => ['--plugin', file])
    ],
    { cwd }
  )
  const answers = [
    await ask(initialize),
    await ask(toolCall(1, 'typescript', { mood: 'calm', n: 2 })),
    await ask(toolCall(2, 'typescript', { mood: 'calm', n: -1 })),
    await ask(toolCall(3, 'typescript', { mood: 'angry', n: 1 }))
  ]
  t.match(answers.slice(1), [
    { result: { content: [{ text: 'calm 4 6 1 false' }] } },
    { result: { isError: true, content: [{ text: 'not below zero' }] } },
    { result: { isError: true, content: [{ text: /mood/ }] } }
  ], 'with enums, namespaces and types, other files, and the same errors as the gateway has')
  for (const name of ['module', 'script', 'listed', 'plugin']) {
    t.match(await ask(toolCall(4, name)), { result: { content: [{ text: name }] } })
  }
  t.match(await ask({ id: 5, method: 'resources/read', params: { uri: 'listed://it' } }), {
    result: { contents: [{ text: 'listed' }] }
  })
  t.match(await ask({ id: 6, method: 'prompts/get', params: { name: 'listed' } }), {
    result: { messages: [{ content: { text: 'listed' } }] }
  })
  t.strictSame(await (await fetch(`${await launched.url()}/own`)).json(), { own: true }, 'a plugin may have routes')

  async function ask (message: object) {
    launched.send(message)
    return await launched.next()
  }
})

t.test('a mistake in TypeScript is found at its own place', async t => {
  const cwd = await folder(t, {
    'p.ts':
      'import { tool } from "mcp-patchbay"\n\ninterface A { b: string }\n\nexport default tool({ name: "p", description: "", run: () => { throw new Error("broken here") } })\n'
  })
  const launched = launch(t, ['--stdio', '--plugin', 'p.ts'], { cwd })
  launched.send(initialize, toolCall(1, 'p'))
  await launched.next()
  t.match(await launched.next(), { error: { code: -32603, data: { correlation: String } } })
  launched.end()
  const { stderr } = await launched.exit()
  t.match(stderr, /broken here/)
  t.match(stderr, /p\.ts:5/, 'the stack names the line of the source')
})

t.test('a JavaScript file may import this package late, where nothing is installed, and is run once', async t => {
  const dir = await folder(t, {
    'late.mjs':
      "globalThis.runs = (globalThis.runs ?? 0) + 1\nexport default async app => { const { tool } = await import('mcp-patchbay'); app.mcp.tools.add(tool({ name: 'late_' + globalThis.runs, description: 'x', run: () => 'hi' })) }",
    'late.cjs':
      "module.exports = async app => { const { tool } = await import('mcp-patchbay'); app.mcp.tools.add(tool({ name: 'late_cjs', description: 'x', run: () => 'hi' })) }"
  })
  for (const [file, name] of [['late.mjs', 'late_1'], ['late.cjs', 'late_cjs']] as const) {
    const launched = launch(t, ['--stdio', '--ephemeral', '--plugin', join(dir, file)])
    launched.send(initialize, toolCall(1, name))
    await launched.next()
    t.match(await launched.next(), { id: 1, result: { content: [{ text: 'hi' }] } }, file)
    launched.end()
    await launched.exit()
  }
})

t.test('a plugin may read standard input while it loads, and messages are answered all the same', async t => {
  const readers = {
    'data.mjs':
      'process.stdin.on("data", chunk => process.stderr.write("heard " + chunk.length + " bytes\\n")).on("end", () => process.stderr.write("heard the end\\n"))',
    'resume.mjs': 'process.stdin.resume().on("end", () => process.stderr.write("heard the end\\n"))',
    'pause.mjs': 'process.stdin.on("end", () => process.stderr.write("heard the end\\n")).pause()',
    'encoding.mjs': 'process.stdin.setEncoding("utf8").on("end", () => process.stderr.write("heard the end\\n"))',
    'readable.mjs': 'process.stdin.on("readable", () => {}).on("end", () => process.stderr.write("heard the end\\n"))',
    'saved.mjs':
      'const { stdin } = process\nsetTimeout(() => stdin.on("data", () => {}), 100)\nstdin.on("end", () => process.stderr.write("heard the end\\n"))'
  }
  const cwd = await folder(
    t,
    Object.fromEntries(Object.entries(readers).map(([name, text]) => [name, `${text}\nexport default async () => {}`]))
  )
  for (const name of Object.keys(readers)) {
    const launched = launch(t, ['--stdio', '--ephemeral', '--plugin', name], { cwd })
    await launched.up()
    launched.send(initialize)
    t.match(await launched.next(), { id: initialize.id, result: {} }, name)
    launched.end()
    const { code, stderr } = await launched.exit()
    t.equal(code, 0, name)
    t.match(stderr, /heard the end/, name)
    if (name === 'data.mjs') t.match(stderr, /heard [1-9]\d* bytes/)
  }
})

t.test('a plugin that stores what it reads from standard input stores all of it', async t => {
  const cwd = await folder(t, {
    'heard.mjs':
      'import fs from "node:fs"\nconst heard = []\nprocess.stdin.on("data", chunk => heard.push(chunk))\nprocess.on("exit", () => fs.writeFileSync("heard", Buffer.concat(heard)))\nexport default async () => {}'
  })
  const launched = launch(t, ['--stdio', '--ephemeral', '--log-level', 'silent', '--plugin', 'heard.mjs'], { cwd })
  await launched.up()
  const sent = [
    initialize,
    ...Array.from({ length: 2_000 }, (_, id) => ({ id, method: 'ping', params: { said: `${id} `.repeat(300) } }))
  ]
    .map(message => `${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`)
    .join('')
  launched.write(sent)
  launched.end()
  t.equal((await launched.exit()).code, 0)
  t.ok(await readFile(join(cwd, 'heard'), 'utf8') === sent)
})

t.test('a plugin that reads standard input while it loads takes no message from the transport', async t => {
  const cwd = await folder(t, {
    'slow.mjs':
      'export default async () => { process.stdin.on("data", () => {}); await new Promise(resolve => setTimeout(resolve, 200)) }'
  })
  const launched = launch(t, ['--stdio', '--ephemeral', '--plugin', 'slow.mjs'], { cwd })
  launched.send(initialize)
  t.match(await launched.next(), { id: initialize.id, result: {} })
  launched.end()
  t.equal((await launched.exit()).code, 0)
})

t.test('a tool may read standard input in any way, and messages are answered all the same', async t => {
  const readers = {
    readable:
      'process.stdin.on("readable", () => { for (let chunk; (chunk = process.stdin.read()) !== null;) process.stderr.write("heard <" + chunk + ">\\n") })',
    iterator:
      'void (async () => { for await (const chunk of process.stdin) process.stderr.write("heard <" + chunk + ">\\n") })()',
    pause: 'process.stdin.on("data", chunk => process.stderr.write("heard <" + chunk + ">\\n")).pause()',
    unref:
      'process.stdin.unref().ref().setEncoding("utf8").on("data", chunk => process.stderr.write("heard <" + chunk + ">\\n"))'
  }
  for (const [name, text] of Object.entries(readers)) {
    const cwd = await folder(t, {
      'read.mjs': `import { tool } from 'mcp-patchbay'\nexport default tool({ name: "read", description: "d", run: () => { ${text} } })`
    })
    const launched = launch(t, ['--stdio', '--ephemeral', '--plugin', 'read.mjs'], { cwd })
    for (const message of [initialize, toolCall(2, 'read'), { id: 3, method: 'ping' }, { id: 4, method: 'ping' }]) {
      launched.send({ jsonrpc: '2.0', ...message })
      t.match(await launched.next(), { id: message.id, result: {} }, name)
    }
    launched.end()
    const { code, stderr } = await launched.exit()
    t.equal(code, 0, name)
    t.match(stderr, /heard <\{"jsonrpc":"2.0","id":3,"method":"ping"\}\n/, name)
  }
})

t.test('a tool that listens to standard input gets what comes next, not its own call', async t => {
  const listen =
    'tool({ name: "listen", description: "d", run: () => { process.stdin.once("data", chunk => process.stderr.write("heard <" + chunk + ">\\n")) } })'
  const cwd = await folder(t, { 'listen.mjs': `import { tool } from 'mcp-patchbay'\nexport default ${listen}` })
  const launched = launch(t, ['--stdio', '--ephemeral', '--plugin', 'listen.mjs'], { cwd })
  for (const message of [
    initialize,
    { id: 2, method: 'tools/call', params: { name: 'listen', arguments: {} } },
    { id: 3, method: 'ping' }
  ]) {
    launched.send({ jsonrpc: '2.0', ...message })
    t.match(await launched.next(), { id: message.id, result: {} })
  }
  launched.end()
  t.match((await launched.exit()).stderr, /heard <\{"jsonrpc":"2.0","id":3,"method":"ping"\}\n>/)
})
