import { renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { followConfigFile } from '../../cli/follow-configuration.js'
import { folder, launch } from '../support/process.js'
import { until } from '../support/wait.js'

const WAIT = 30_000

t.test('a config file that is a symbolic link is followed where it leads to', async t => {
  const place = await folder(t, {})
  await mkdir(join(place, 'real'))
  await mkdir(join(place, 'place'))
  writeFileSync(join(place, 'real/c.json'), '{}')
  symlinkSync('../real/c.json', join(place, 'place/c.json'))
  let changes = 0
  const following = await followConfigFile(join(place, 'place/c.json'), () => { changes++ })
  t.teardown(() => following.close())
  const before = changes
  writeFileSync(join(place, 'real/c.json'), '{ "a": 1 }')
  await until(() => changes > before, 'the change of the target', WAIT)
})

t.test('a config file of the user that is removed ends no server, and is taken over when it is back', async t => {
  const home = await folder(t, {})
  const file = join(home, '.config/patchbay/patchbay.json')
  await mkdir(join(file, '..'), { recursive: true })
  const write = (names: string[]): void => {
    writeFileSync(`${file}.new`, JSON.stringify({ mcpServers: Object.fromEntries(names.map(name => [name, { command: 'none', disabled: true }])) }))
    renameSync(`${file}.new`, file)
  }
  write(['one'])
  const gateway = await launch(t, ['--port', '0', '--ephemeral', '--log-format', 'json'], { env: { HOME: home } }).up()
  const told = async (what: RegExp) => await until(() => what.test(gateway.stderr), String(what), WAIT)
  rmSync(file)
  await told(/options not reloaded, the previous ones stay: config file .*patchbay\.json: there is no such file/)
  t.notMatch(gateway.stderr, /upstreams removed/)
  write(['one', 'two'])
  await told(/options reloaded: changed mcpServers/)
  t.notMatch(gateway.stderr, /upstreams removed/)
})
