import t from 'tap'
import { listed } from '../access/keys.js'
import { launch, PROCESSES } from './process.js'

const keys = { PATCHBAY_API_KEYS: JSON.stringify([listed('ada', 'pb_ada')]) }
const oauth = { PATCHBAY_OAUTH: JSON.stringify({ issuer: 'http://127.0.0.1:1', resource: 'https://gateway.test/mcp' }) }
const hosts = { PATCHBAY_ALLOWED_HOSTS: 'gateway.test' }

const REFUSED: Array<[what: string, host: string, env: Record<string, string>, lacks: RegExp[]]> = [
  ['nothing', '0.0.0.0', {}, [/who may call \(apiKeys or oauth\) and which names they use \(allowedHosts\)/, /patchbay key/, /PATCHBAY_ALLOWED_HOSTS=mcp\.example\.com patchbay --host 0\.0\.0\.0 --port 0$/m]],
  ['names only', '0.0.0.0', hosts, [/say who may call \(apiKeys or oauth\), or listen on 127\.0\.0\.1/, /PATCHBAY_API_KEYS='\[\.\.\.\]' patchbay --host/]],
  ['keys only', '::', keys, [/option host is ::.*say which names they use \(allowedHosts\), or listen/]]
]

const STARTED: Array<[what: string, host: string, env: Record<string, string>]> = [
  ['keys and names', '0.0.0.0', { ...keys, ...hosts }],
  ['an issuer, although it is not there, and names', '0.0.0.0', { ...oauth, ...hosts }]
]

t.test('listening for other machines', async t => {
  t.jobs = PROCESSES
  for (const [what, host, env, lacks] of REFUSED) {
    t.test(`is refused with ${what}, and the reason is one line that says what to do`, { buffered: true }, async t => {
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
  t.test('is no question where only stdio is served', { buffered: true }, async t => {
    const launched = launch(t, ['--stdio', '--host', '0.0.0.0', '--ephemeral'])
    launched.end()
    t.match(await launched.exit(), { code: 0 })
  })
})
