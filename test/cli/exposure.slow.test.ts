import t from 'tap'
import { listed } from '../support/keys.js'
import { launch, PROCESSES } from '../support/process.js'

const keys = { PATCHBAY_API_KEYS: JSON.stringify([listed('ada', 'pb_ada')]) }
const oauth = { PATCHBAY_OAUTH: JSON.stringify({ issuer: 'http://127.0.0.1:1', resource: 'https://gateway.test/mcp' }) }
const anyone = { PATCHBAY_ALLOW_ANONYMOUS: 'true' }
const hosts = { PATCHBAY_ALLOWED_HOSTS: 'gateway.test' }

const REFUSED: Array<[what: string, host: string, env: Record<string, string>, lacks: RegExp[]]> = [
  [
    'nothing',
    '0.0.0.0',
    {},
    [
      /who may call \(apiKeys or oauth\) and which names they use \(allowedHosts\)/,
      /patchbay key/,
      /PATCHBAY_ALLOWED_HOSTS=mcp\.example\.com patchbay --host 0\.0\.0\.0 --port 0$/m
    ]
  ],
  [
    'names only',
    '0.0.0.0',
    hosts,
    [
      /say who may call \(apiKeys or oauth\), or listen on 127\.0\.0\.1/,
      /PATCHBAY_API_KEYS='\[\.\.\.\]' patchbay --host/
    ]
  ],
  ['keys only', '::', keys, [/option host is ::.*say which names they use \(allowedHosts\), or listen/]],
  [
    'permission for everyone, but no names',
    '0.0.0.0',
    anyone,
    [/say which names they use \(allowedHosts\), or listen/]
  ],
  [
    'a public name on loopback, which a proxy would use',
    '127.0.0.1',
    { PATCHBAY_ALLOWED_HOSTS: 'localhost,mcp.example.com:8443' },
    [
      /option allowedHosts has mcp\.example\.com:8443.*proxy/,
      /say who may call \(apiKeys or oauth\), or leave that option out/,
      /set allowAnonymous to true/,
      /PATCHBAY_API_KEYS='\[\.\.\.\]' patchbay --host 127\.0\.0\.1/
    ]
  ],
  [
    'a proxy that is trusted',
    'localhost',
    { PATCHBAY_TRUST_PROXY: '127.0.0.1' },
    [/option trustProxy is set.*say who may call \(apiKeys or oauth\), or leave/]
  ],
  ['every proxy trusted', '::1', { PATCHBAY_TRUST_PROXY: 'true' }, [/option trustProxy is set/]]
]

const STARTED: Array<[what: string, host: string, env: Record<string, string>]> = [
  ['keys and names', '0.0.0.0', { ...keys, ...hosts }],
  ['an issuer, although it is not there, and names', '0.0.0.0', { ...oauth, ...hosts }]
]

t.test('listening for other machines', async t => {
  t.jobs = PROCESSES
  for (const [what, host, env, lacks] of REFUSED) {
    t.test(`is refused with ${what}, and the error is one line with the remedy`, { buffered: true }, async t => {
      const { code, stdout, stderr } = await launch(t, ['--host', host, '--port', '0', '--ephemeral'], { env }).exit()
      t.match({ code, stdout, stderr }, { code: 1, stdout: '', stderr: /^patchbay: .*\n$/ })
      for (const pattern of lacks) t.match(stderr, pattern)
    })
  }
  for (const [what, host, env] of STARTED) {
    t.test(`is possible with ${what}`, { buffered: true }, async t => {
      const launched = launch(t, ['--host', host, '--port', '0', '--ephemeral'], { env })
      const port = new URL(await launched.url()).port
      t.equal((await fetch(`http://127.0.0.1:${port}/health`)).status, 200)
      t.equal((await fetch(`http://127.0.0.1:${port}/message`, { method: 'POST' })).status, 401)
      launched.kill('SIGTERM')
      t.match(await launched.exit(), { code: 0 })
    })
  }
  t.test(
    'is possible without credentials where an option allows it, with a warning in the log',
    { buffered: true },
    async t => {
      for (const [host, env, sign] of [
        ['127.0.0.1', { ...hosts, ...anyone }, /option allowedHosts has gateway\.test/],
        ['0.0.0.0', { ...hosts, ...anyone }, /option host is 0\.0\.0\.0/],
        ['127.0.0.1', { ...anyone, PATCHBAY_TRUST_PROXY: 'true' }, /option trustProxy is set/]
      ] as const) {
        const launched = launch(t, ['--host', host, '--port', '0', '--ephemeral'], { env })
        const { port } = new URL(await launched.url())
        const answer = await fetch(`http://127.0.0.1:${port}/message`, {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: '{"jsonrpc":"2.0","id":1,"method":"ping"}'
        })
        t.equal(answer.status, 200)
        launched.kill('SIGTERM')
        const { stderr } = await launched.exit()
        t.match(stderr, sign)
        t.match(stderr, /"level":40.*option allowAnonymous is set: everyone who gets there may use everything/)
      }
    }
  )
  t.test('is not assumed for names of this machine', { buffered: true }, async t => {
    const launched = launch(t, ['--port', '0', '--ephemeral'], {
      env: { PATCHBAY_ALLOWED_HOSTS: 'localhost:3000,127.0.0.2,[::1]:80,::1', PATCHBAY_TRUST_PROXY: 'false' }
    })
    await launched.url()
    launched.kill('SIGTERM')
    t.match(await launched.exit(), { code: 0, stderr: /^(?!.*allowAnonymous)/s })
  })
  t.test('is not checked where only stdio is served', { buffered: true }, async t => {
    const launched = launch(t, ['--stdio', '--host', '0.0.0.0', '--ephemeral'])
    launched.end()
    t.match(await launched.exit(), { code: 0 })
  })
})

t.test('every way to name this machine alone is served without keys, under the name that was used', async t => {
  t.jobs = PROCESSES
  for (const host of ['127.0.0.1', '127.0.0.2', '127.1', '::1', 'localhost']) {
    t.test(`--host ${host}`, { buffered: true }, async t => {
      const launched = launch(t, ['--host', host, '--port', '0', '--ephemeral'])
      const url = await launched.url()
      const name = host.includes(':') ? `[${host}]` : host
      for (const base of [url, `http://${name}:${new URL(url).port}`]) {
        t.match(await (await fetch(`${base}/health`)).json(), { status: 'healthy', version: String }, base)
      }
      launched.kill('SIGTERM')
      t.match(await launched.exit(), { code: 0 })
    })
  }
})
