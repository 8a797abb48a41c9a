import { spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { readSettings } from '../../cli/settings/read-settings.js'
import { resolveOptions } from '../../options.js'
import { folder } from '../support/process.js'
import { deployed, directives } from './files.js'

const unit = directives()
const analyze = (...args: string[]) =>
  spawnSync('systemd-analyze', args, { encoding: 'utf8', env: { ...process.env, LC_ALL: 'C' } })
const hasSystemd = { skip: analyze('--version').status !== 0 && 'not installed: systemd' }

/** What the command is started with, for port 8081. */
function options () {
  const [, , ...args] = unit.get('ExecStart')?.[0]?.replace('%i', '8081').split(' ') ?? []
  const env = Object.fromEntries(
    (unit.get('Environment') ?? []).map(pair => pair.replace('%S', '/var/lib').split('=') as [string, string])
  )
  return { env, options: resolveOptions(readSettings(args, env, '/').options) }
}

t.test(
  'the command of the unit has options that it accepts, and its data folder is the one that it may write to',
  async t => {
    const {
      env,
      options: { port, drainDelay }
    } = options()
    t.match({ port, drainDelay }, { port: 8081, drainDelay: 5_000 })
    t.equal(`${env['XDG_DATA_HOME']}/patchbay`, `/var/lib/${unit.get('StateDirectory')?.[0]}`)
  }
)

t.test('systemd waits longer than the gateway takes to end', async t => {
  const { options: { drainDelay, grace } } = options()
  t.ok(Number(unit.get('TimeoutStopSec')?.[0]) * 1_000 > drainDelay + 3 * grace + 5_000)
  t.match([unit.get('KillSignal'), unit.get('ExecReload')], [['SIGTERM'], [/-HUP/]])
})

t.test('systemd understands every line, and finds little to object to', hasSystemd, async t => {
  // A program that is there, in place of the one that is installed.
  const text = deployed('patchbay@.service').replace('/usr/bin/node ', `${process.execPath} `)
  const place = await folder(t, {})
  for (const name of ['patchbay@.service', 'patchbay@8081.service']) writeFileSync(join(place, name), text)
  const { status, stdout, stderr } = analyze('verify', join(place, 'patchbay@8081.service'))
  t.match({ status, stdout, stderr }, { status: 0, stdout: '', stderr: '' })
  const { stdout: report } = analyze('security', '--offline=true', '--no-pager', join(place, 'patchbay@.service'))
  const [, exposure] = /Overall exposure level for \S+: ([\d.]+)/.exec(report) ?? []
  t.comment(`exposure ${exposure}`)
  t.ok(exposure === undefined || Number(exposure) < 2, 'below 2 of 10')
})
