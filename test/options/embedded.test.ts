import Fastify from 'fastify'
import t from 'tap'
import { patchbay } from '../../app.js'
import { Options } from '../../options.js'
import { ELSEWHERE } from '../../options/embedded.js'
import { Limits } from '../../options/limits.js'

t.test('a host application is warned once about each option that has no effect there', async t => {
  const lines: string[] = []
  const app = Fastify({ logger: { level: 'warn', stream: { write: (line: string) => { lines.push(line) } } } })
  t.teardown(async () => await app.close())
  await app.register(patchbay, { prefix: '/ai', port: 9000, host: '0.0.0.0', allowAnonymous: true })
  await app.ready()
  t.match(
    lines.map(line => (JSON.parse(line) as { msg: string }).msg),
    [/^option port has no effect .*: pass it to app\.listen\(\)$/, /^option host has no effect/]
  )
  t.equal(lines.length, 2)
})

t.test('each of these options exists', async t => {
  for (const name of Object.keys(ELSEWHERE)) t.ok(name in Options.properties || name in Limits.properties, name)
})
