import { chmod } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { childEnvironment } from '../../../system/programs/server/child-environment.js'
import { findProgram } from '../../../system/programs/server/find-program.js'
import { windowsCommand } from '../../../system/programs/server/start-server.js'
import { folder } from '../../support/process.js'

t.test('Windows starts scripts in its shell, with arguments that the shell does not interpret', async t => {
  t.strictSame(windowsCommand('C:\\tools\\a.exe', ['x y']), {
    path: 'C:\\tools\\a.exe',
    args: ['x y'],
    windowsVerbatimArguments: false
  })
  t.strictSame(windowsCommand('C:\\tools\\a.cmd', ['x y', 'a&b', 'say "hi"\\']), {
    path: 'cmd.exe',
    args: ['/d', '/s', '/c', '"C:\\tools\\a.cmd ^"x^ y^" ^"a^&b^" ^"say^ \\^"hi\\^"\\\\^""'],
    windowsVerbatimArguments: true
  })
  const [,,, line] = windowsCommand('C:\\node_modules\\.bin\\a.cmd', ['%PATH%']).args
  t.equal(line, '"C:\\node_modules\\.bin\\a.cmd ^^^"^^^%PATH^^^%^^^""')
})

t.test('Windows finds programs by the extensions of PATHEXT, and scripts of other systems last', async t => {
  const path = await folder(t, { npx: '', 'npx.CMD': '' })
  for (const name of ['npx', 'npx.CMD']) await chmod(join(path, name), 0o755)
  t.equal(
    findProgram({ command: 'npx', env: { Path: path, PathExt: '.EXE;.CMD' }, cwd: undefined }, 'win32'),
    join(path, 'npx.CMD')
  )
  t.equal(findProgram({ command: 'npx', env: { PATH: path }, cwd: undefined }, 'linux'), join(path, 'npx'))
})

t.test('a program gets the variables that it needs, and no others', async t => {
  const own = {
    PATH: '/bin',
    HOME: '/h',
    LC_ALL: 'C',
    XDG_DATA_HOME: '/d',
    TZ: 'UTC',
    SHELL: '() { x',
    GITHUB_TOKEN: 'secret',
    PATCHBAY_SECRET: 's',
    HTTPS_PROXY: 'http://u:p@h',
    no_proxy: '*',
    SSL_CERT_FILE: '/c'
  }
  t.strictSame(childEnvironment(false, own, 'linux'), {
    PATH: '/bin',
    HOME: '/h',
    LC_ALL: 'C',
    XDG_DATA_HOME: '/d',
    TZ: 'UTC',
    SSL_CERT_FILE: '/c'
  })
  t.match(childEnvironment(true, own, 'linux'), { HTTPS_PROXY: 'http://u:p@h', no_proxy: '*' })
  t.strictSame(
    childEnvironment(
      false,
      { Path: 'C:\\', SystemRoot: 'C:\\Windows', ComSpec: 'cmd', HOME: '/h', SECRET: 's' },
      'win32'
    ),
    { Path: 'C:\\', SystemRoot: 'C:\\Windows', ComSpec: 'cmd' }
  )
})
