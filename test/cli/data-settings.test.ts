import { join } from 'node:path'
import t, { type Test } from 'tap'
import { resolveOptions, type Options } from '../../options.js'
import { readSettings } from '../../cli/settings/read-settings.js'
import { dataFolder } from '../../system/process/data-folder.js'
import { folder } from '../support/process.js'

const HOME = '/home/ada'
const SHARED = join(HOME, '.local/share/patchbay')

const FOLDERS: Array<[what: string, platform: string, env: Record<string, string>, expected: string]> = [
  ['Linux', 'linux', {}, SHARED],
  ['Linux with XDG_DATA_HOME', 'linux', { XDG_DATA_HOME: '/data' }, '/data/patchbay'],
  ['Linux with an empty XDG_DATA_HOME', 'linux', { XDG_DATA_HOME: '' }, SHARED],
  ['Linux with a relative XDG_DATA_HOME, which is to be ignored', 'linux', { XDG_DATA_HOME: 'data' }, SHARED],
  ['FreeBSD', 'freebsd', {}, SHARED],
  ['macOS', 'darwin', {}, join(HOME, 'Library/Application Support/patchbay')],
  [
    'macOS with XDG_DATA_HOME, which is not of that world',
    'darwin',
    { XDG_DATA_HOME: '/data' },
    join(HOME, 'Library/Application Support/patchbay')
  ],
  ['Windows', 'win32', { LOCALAPPDATA: '/users/ada/local' }, join('/users/ada/local', 'patchbay')],
  ['Windows without LOCALAPPDATA', 'win32', {}, join(HOME, 'AppData', 'Local', 'patchbay')],
  ['Windows with an empty LOCALAPPDATA', 'win32', { LOCALAPPDATA: '' }, join(HOME, 'AppData', 'Local', 'patchbay')]
]

for (const [what, platform, env, expected] of FOLDERS) {
  t.test(`the data folder on ${what}`, async t => t.equal(dataFolder(platform, env, HOME), expected))
}

t.test('the data folder is that of the user unless it is set', async t => {
  t.ok(dataFolder('linux', {}).endsWith(join('.local', 'share', 'patchbay')))
})

interface Given { args?: string[], env?: Record<string, string>, file?: object }

async function read (
  t: Test,
  { args = [], env = {}, file }: Given
): Promise<{ cwd: string, options: Options, launch: string[] }> {
  const cwd = await folder(t, file === undefined ? {} : { 'c.json': JSON.stringify(file) })
  const { options, args: launch } = readSettings(
    file === undefined ? args : ['--config', join(cwd, 'c.json'), ...args],
    env,
    file === undefined ? cwd : '/elsewhere'
  )
  return { cwd, options: resolveOptions(options), launch }
}

t.test('a data folder is found from where it is named', async t => {
  const SOURCES: Array<[given: Given, expected: (cwd: string) => string]> = [
    [{ args: ['--data', 'here'] }, cwd => join(cwd, 'here')],
    [{ args: ['--data=./here/../there/'] }, cwd => join(cwd, 'there')],
    [{ args: ['--data', '/abs'] }, () => '/abs'],
    [{ env: { PATCHBAY_DATA: 'here' } }, cwd => join(cwd, 'here')],
    [{ file: { data: 'here' } }, cwd => join(cwd, 'here')],
    [{ file: { data: '/abs' } }, () => '/abs'],
    [{ file: { data: 'here' }, args: ['--data', 'there'] }, () => '/elsewhere/there'],
    [{ file: { data: 'here' }, env: { PATCHBAY_DATA: 'there' } }, () => '/elsewhere/there'],
    [{ file: { data: 'here' }, env: { PATCHBAY_DATA: '' } }, cwd => join(cwd, 'here')],
    [{ env: { PATCHBAY_DATA: 'here' }, args: ['--data', 'there'] }, cwd => join(cwd, 'there')],
    [{ args: ['--data', 'one', '--data', 'two'] }, cwd => join(cwd, 'two')]
  ]
  for (const [given, expected] of SOURCES) {
    const { cwd, options } = await read(t, given)
    t.equal(options.data, expected(cwd), JSON.stringify(given))
  }
})

t.test('the command line that is shown means the same in every folder', async t => {
  const { cwd, launch } = await read(t, { args: ['--stdio', '--data', 'here', '--root', 'files'] })
  t.strictSame(launch, ['--stdio', '--data', join(cwd, 'here'), '--root', join(cwd, 'files')])
})

t.test('ephemeral is asked for in each way, and an embedded gateway keeps nothing by itself', async t => {
  for (const given of [
    { args: ['--ephemeral'] },
    { env: { PATCHBAY_EPHEMERAL: 'true' } },
    { env: { PATCHBAY_EPHEMERAL: '1' } },
    { file: { ephemeral: true } }
  ]) {
    t.match((await read(t, given)).options, { ephemeral: true })
  }
  t.match((await read(t, {})).options, { ephemeral: false })
  t.notOk('data' in (await read(t, {})).options)
  t.match((await read(t, { file: { ephemeral: true }, env: { PATCHBAY_EPHEMERAL: 'false' } })).options, {
    ephemeral: false
  })
})

const MISTAKES: Array<[given: Given, pattern: RegExp]> = [
  [{ args: ['--data'] }, /--data/],
  [{ args: ['--data='] }, /data/],
  [{ file: { data: '' } }, /option data/],
  [{ file: { data: 5 } }, /option data must be string/],
  [{ file: { ephemeral: 'yes' } }, /option ephemeral must be boolean/],
  [{ env: { PATCHBAY_EPHEMERAL: 'yes' } }, /PATCHBAY_EPHEMERAL must be true or false/],
  [{ args: ['--ephemeral=yes'] }, /--ephemeral/],
  [{ env: { MCP_LOG_LEVEL: 'loud' } }, /MCP_LOG_LEVEL|logLevel/]
]

t.test('a mistake is named', async t => {
  for (const [given, pattern] of MISTAKES) await t.rejects(read(t, given), pattern, JSON.stringify(given))
})

t.test('MCP_LOG_LEVEL takes the level names of other programs', async t => {
  const LEVELS: Array<[env: Record<string, string>, logLevel: string]> = [
    [{ MCP_LOG_LEVEL: 'DEBUG' }, 'debug'],
    [{ MCP_LOG_LEVEL: 'INFO' }, 'info'],
    [{ MCP_LOG_LEVEL: 'WARNING' }, 'warn'],
    [{ MCP_LOG_LEVEL: 'warn' }, 'warn'],
    [{ MCP_LOG_LEVEL: 'ERROR' }, 'error'],
    [{ MCP_LOG_LEVEL: 'CRITICAL' }, 'fatal'],
    [{ MCP_LOG_LEVEL: '' }, 'info'],
    [{ MCP_LOG_LEVEL: 'DEBUG', PATCHBAY_LOG_LEVEL: 'error' }, 'error']
  ]
  for (const [env, logLevel] of LEVELS) {
    t.equal((await read(t, { env })).options.logLevel, logLevel, JSON.stringify(env))
  }
  t.equal((await read(t, { env: { MCP_LOG_LEVEL: 'DEBUG' }, args: ['--log-level', 'warn'] })).options.logLevel, 'warn')
  t.equal((await read(t, { env: { MCP_LOG_LEVEL: 'DEBUG' }, file: { logLevel: 'warn' } })).options.logLevel, 'debug')
})
