import { once } from 'node:events'
import { createServer, type AddressInfo } from 'node:net'
import t, { type Test } from 'tap'
import { ADA, listed as key } from '../support/keys.js'
import { folder, launch, PROCESSES } from '../support/process.js'

interface Launch { args?: string[], env?: Record<string, string>, files?: Record<string, string> }

/**
 * Every mistake ends the same way: one line on standard error that names the mistake, nothing on standard output, exit
 * 1.
 */
async function refused (t: Test, { args = [], env = {}, files = {} }: Launch, expected: RegExp): Promise<void> {
  const cwd = await folder(t, files)
  const { code, stdout, stderr } = await launch(t, args, { env, cwd }).exit()
  t.equal(code, 1)
  t.equal(stdout, '')
  t.match(stderr, /^patchbay: .*\n$/, 'one line')
  t.match(stderr, expected)
}

const VIEWS = {
  PATCHBAY_API_KEYS: JSON.stringify([key('ada', ADA, ['mcp'], { view: 'work' })]),
  PATCHBAY_VIEWS: JSON.stringify({ work: {}, other: {} })
}

const MISTAKES: Array<[what: string, launch: Launch, expected: RegExp]> = [
  ['an option that does not exist', { args: ['--nonsense'] }, /--nonsense/],
  [
    'a bad value in the environment',
    { args: ['--stdio'], env: { PATCHBAY_PORT: 'abc' } },
    /PATCHBAY_PORT must be a whole number, not "abc"/
  ],
  [
    'a config file that is not JSON',
    { args: ['--config', 'c.json'], files: { 'c.json': '{ port: 1 }' } },
    /config file .*c\.json/
  ],
  [
    'an address others can reach, without names for it',
    { args: ['--host', '0.0.0.0', '--port', '0'] },
    /option host is 0\.0\.0\.0.*allowedHosts/
  ],
  [
    'a root that is not a folder',
    { args: ['--stdio', '--root', 'a.txt'], files: { 'a.txt': '' } },
    /option roots: \/.+\/a\.txt is not a folder/
  ],
  [
    'a plugin in TypeScript that cannot be read',
    { args: ['--stdio', '--plugin', 'p.ts'], files: { 'p.ts': '\n\nexport default tool({' } },
    /p\.ts: .*\w/
  ],
  [
    'a plugin in JavaScript that cannot be read',
    { args: ['--stdio', '--plugin', 'p.js'], files: { 'p.js': '\n\nexport default tool({' } },
    /p\.js: .*\w/
  ],
  [
    'a plugin that throws',
    { args: ['--stdio', '--plugin', 'p.ts'], files: { 'p.ts': 'throw new Error("no database\\nat all")' } },
    /plugin \/.+\/p\.ts: no database/
  ],
  [
    'a view that is not the one of the credential',
    { args: ['--stdio', '--ephemeral', '--view', 'other'], env: { ...VIEWS, PATCHBAY_TOKEN: ADA } },
    /option view is "other", and the credential of option token is for the view "work" alone\n/
  ],
  [
    'a view that does not exist, for a credential that has one',
    { args: ['--stdio', '--ephemeral', '--view', 'nowhere'], env: { ...VIEWS, PATCHBAY_TOKEN: ADA } },
    /option view is "nowhere", and the credential of option token is for the view "work" alone\n/
  ],
  [
    'a view that does not exist',
    { args: ['--stdio', '--ephemeral', '--view', 'othr'], env: VIEWS },
    /option view is "othr", and there is no such view; did you mean "other"\?\n/
  ]
]

t.test('a mistake is reported in one line', async t => {
  t.jobs = PROCESSES
  for (const [what, options, expected] of MISTAKES) {
    t.test(what, { buffered: true }, async t => await refused(t, options, expected))
  }

  t.test('a port that is in use', { buffered: true }, async t => {
    const server = createServer().listen(0, '127.0.0.1')
    await once(server, 'listening')
    t.teardown(() => server.close())
    const { port } = server.address() as AddressInfo
    await refused(
      t,
      { args: ['--stdio', '--port', String(port), '--log-level', 'error'] },
      new RegExp(`port ${port} on 127\\.0\\.0\\.1 is in use; choose another with --port`)
    )
  })
})
