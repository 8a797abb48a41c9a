import { once } from 'node:events'
import { createServer, type AddressInfo } from 'node:net'
import t from 'tap'
import { folder, launch, PROCESSES } from '../support/process.js'

interface Start { args: string[], files?: Record<string, string>, env?: Record<string, string> }

/** What stops a start, and the part of the sentence that says what to do. */
const STARTS: Array<[what: string, start: Start, way: RegExp]> = [
  [
    'a data folder that is a file',
    { args: ['--stdio', '--data', 'a'], files: { a: '' } },
    /choose another with --data, or keep nothing with --ephemeral$/
  ],
  [
    'a data file that is damaged',
    { args: ['--stdio', '--data', '.'], files: { 'patchbay.db': 'not a database '.repeat(100) } },
    /restore a copy of it or delete it/
  ],
  ['an option with a slip in it', { args: ['--prot', '1'] }, /see patchbay --help|did you mean/],
  [
    'an address that other machines reach',
    { args: ['--host', '0.0.0.0'] },
    /listen on 127\.0\.0\.1.*"patchbay key me" makes/
  ],
  [
    'a public name without a credential',
    { args: [], env: { PATCHBAY_ALLOWED_HOSTS: 'mcp.example.com' } },
    /apiKeys or oauth.*"patchbay key me" makes/
  ],
  [
    'a program that is not there',
    { args: ['--stdio'], env: { PATCHBAY_COMMANDS: '{"no-such-program":{}}' } },
    /set commands\.no-such-program\.program to where it is/
  ]
]

const HEAD = 'import { resource, tool } from "mcp-patchbay"\n\n'

/** Mistakes in the file of an author, each in line 3. */
const FILES: Array<[what: string, line: string, says: RegExp]> = [
  [
    'handler for run',
    'export default tool({ name: "a", description: "A.", handler: () => "" })',
    /there is no "handler"; did you mean "run"\? \(line 3\)$/
  ],
  ['no run', 'export default tool({ name: "a", description: "A." })', /run.*\(line 3\)$/],
  [
    'a name with a space',
    'export default tool({ name: "a b", description: "A.", run: () => "" })',
    /"a b".*\(line 3\)$/
  ],
  [
    'a type that does not exist',
    'export default tool({ name: "a", description: "A.", input: { type: "objct" }, run: () => "" })',
    /\(line 3\)$/
  ],
  ['a resource without uri', 'export default resource({ name: "a", read: () => "" })', /uri.*\(line 3\)$/],
  ['an error of its own', 'throw new Error("no database")', /no database \(line 3\)$/],
  [
    'a plugin that rejects',
    'export default async function () { throw new Error("no database") }',
    /no database \(line 3\)$/
  ],
  ['a syntax error', 'export default tool({ name: "a" description })', /line 3, column \d+/]
]

t.test('what stops a start is one sentence that says what to do', async t => {
  t.jobs = PROCESSES
  for (const [what, { args, files = {}, env = {} }, way] of STARTS) {
    t.test(what, { buffered: true }, async t => t.match(await refusal(await folder(t, files), args, env), way))
  }

  t.test('a port in use', { buffered: true }, async t => {
    const server = createServer().listen(0, '127.0.0.1')
    await once(server, 'listening')
    t.teardown(() => server.close())
    const { port } = server.address() as AddressInfo
    t.match(await refusal(await folder(t, {}), ['--port', String(port)], {}), /in use; choose another with --port/)
  })

  async function refusal (cwd: string, args: string[], env: Record<string, string>): Promise<string> {
    const { code, stdout, stderr } = await launch(t, args, { cwd, env }).exit()
    t.match({ code, stdout, stderr }, { code: 1, stdout: '', stderr: /^patchbay: [^\n]+\n$/ })
    return stderr.trim()
  }
})

t.test('every mistake in the file of an author is named with file and line', async t => {
  t.jobs = PROCESSES
  for (const [what, line, says] of FILES) {
    t.test(what, { buffered: true }, async t => {
      const cwd = await folder(t, { 'weather.ts': `${HEAD}${line}\n` })
      const { code, stderr } = await launch(t, ['--stdio', '--ephemeral', '--plugin', 'weather.ts'], { cwd }).exit()
      // A slow machine is told meanwhile that the file is still waited for.
      const sentence = stderr.replace(/^\{.*still waiting for it.*\}\n/gm, '').trim()
      t.match({ code, sentence }, { code: 1, sentence: /^patchbay: plugin \/.*\/weather\.ts: [^\n]+$/ })
      t.match(sentence, says)
    })
  }
})
