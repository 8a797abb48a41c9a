import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import { checkExposure } from '../../cli/exposure.js'
import { readSettings } from '../../cli/settings/read-settings.js'
import { resolveOptions } from '../../options.js'
import { deployed, environmentOf, instructions, ROOT, services } from './files.js'

const all = services()
const nodes = Object.entries(all).filter(([name]) => name.startsWith('node'))

t.test('each node starts with its variables and those of the image, and has time to end', async t => {
  t.equal(nodes.length, 3)
  for (const [name, { environment = {}, stop_grace_period: time = '', build }] of nodes) {
    const env = { ...environmentOf(instructions()), ...environment }
    const options = resolveOptions(readSettings([], env, fileURLToPath(ROOT)).options)
    t.doesNotThrow(() => checkExposure(options), name)
    t.match(options, { redis: 'redis://valkey:6379', host: '0.0.0.0', drainDelay: 5_000, trustProxy: true })
    t.equal(options.data, undefined, 'no folder is named that Redis would override')
    t.ok(Number(/^(\d+)s$/.exec(time)?.[1]) * 1_000 > options.drainDelay + 3 * options.grace + 5_000)
    t.ok(existsSync(new URL(build?.dockerfile ?? '', new URL(`${build?.context ?? ''}/`, new URL('deploy/', ROOT)))))
  }
})

t.test('no container is root with rights, writes to its image, or is checked by a shell', async t => {
  for (const [name, service] of Object.entries(all)) {
    t.match(service, { read_only: true, cap_drop: ['ALL'], security_opt: ['no-new-privileges:true'] }, name)
    const { healthcheck: { test, disable = false } = {}, build } = service
    // Nodes have the check of the image.
    if (build === undefined && !disable) t.equal(test?.[0], 'CMD', name)
    for (const file of (service.volumes ?? []).filter(volume => volume.startsWith('./'))) {
      t.ok(existsSync(new URL(file.split(':')[0] ?? '', new URL('deploy/', ROOT))), file)
    }
  }
})

t.test('only nginx and Grafana can be reached, from this machine, and only nodes reach Valkey', async t => {
  t.strictSame(
    Object.entries(all)
      .filter(([, { ports }]) => ports !== undefined)
      .map(([name, { ports }]) => [name, ports]),
    [
      ['nginx', ['127.0.0.1:8080:8080']],
      ['grafana', ['127.0.0.1:3000:3000']]
    ]
  )
  t.strictSame(
    Object.entries(all)
      .filter(([, { networks }]) => networks?.includes('back'))
      .map(([name]) => name),
    ['valkey', 'node1', 'node2', 'node3']
  )
  t.match(deployed('compose.yaml'), /back: \{ internal: true \}/)
})

t.test('the last service prints the URL once nginx answers', async t => {
  t.match(all['url'], {
    depends_on: { nginx: { condition: 'service_healthy' } },
    entrypoint: ['/nodejs/bin/node', '-e', /http:\/\/127\.0\.0\.1:8080\/mcp/]
  })
  t.match(all['nginx'], {
    depends_on: Object.fromEntries(nodes.map(([name]) => [name, { condition: 'service_healthy' }]))
  })
  t.match(nodes.map(([, node]) => node.depends_on), nodes.map(() => ({ valkey: { condition: 'service_healthy' } })))
})

t.test('Valkey writes everything down and throws nothing away', async t => {
  const settings = all['valkey']?.command?.join(' ') ?? ''
  for (const setting of ['--appendonly yes', '--appendfsync everysec', '--maxmemory-policy noeviction']) {
    t.match(settings, setting)
  }
})

t.test('nginx has the settings of the file for several nodes, but for names and TLS', async t => {
  const settings = (name: string) =>
    deployed(name)
      .split('\n')
      .map(line => line.trim())
      .filter(line => line !== '' && !/^(#|listen|server_name|ssl_)/.test(line))
  t.strictSame(
    settings('compose-nginx.conf'),
    settings('nginx-nodes.conf').map(line => line.replace(/127\.0\.0\.1:808(\d)/, 'node$1:8080'))
  )
})
