import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { until } from '../support/wait.js'
import { folder, launch } from '../support/process.js'

const REPORTER = `import { writeFileSync } from 'node:fs'
  export default async function (fastify) {
    fastify.addHook('onListen', async () => writeFileSync('port', String(fastify.server.address().port)))
  }`

t.test('a gateway whose standard error is never read serves and ends like any other', async t => {
  const cwd = await folder(t, { 'reporter.mjs': REPORTER })
  const launched = launch(t, ['--port', '0', '--plugin', 'reporter.mjs'], { cwd })
  launched.deafen()
  const file = join(cwd, 'port')
  await until(() => existsSync(file) && readFileSync(file, 'utf8') !== '')
  const url = `http://127.0.0.1:${readFileSync(file, 'utf8')}/health`
  for (let count = 0; count < 3; count++) {
    t.match(await (await fetch(url, { signal: AbortSignal.timeout(5_000) })).json(), { status: 'healthy' })
  }
  launched.kill('SIGTERM')
  t.match(await launched.exit(), { code: 0, signal: null })
})
