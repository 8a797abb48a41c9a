import { spawnSync } from 'node:child_process'
import { chmodSync, existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import t, { type Test } from 'tap'
import { folder } from '../support/process.js'

const SCRIPT = fileURLToPath(new URL('../../../scripts/test-setup.mjs', import.meta.url))
// The PATH holds no `true`.
const SUDO = '#!/bin/sh\nshift\n[ "$1" = true ] || exec "$@"\n'
const APT = `#!/bin/sh
cd "$PATH"
echo "$@" >> calls
case "$*" in
  *update*) echo > updated ;;
  *) [ -e updated ] || { echo 'E: Unable to locate package' >&2; exit 100; }
     for name in Xvfb xsel redis-server nginx chromium promtool zsh fish; do echo '#!/bin/sh' > $name; /bin/chmod +x $name; done ;;
esac
`

/** All programs but the first one, Xvfb. */
const OTHERS = { xsel: '', 'redis-server': '', nginx: '', chromium: '', promtool: '', zsh: '', fish: '' }

/** Runs the set-up on a machine that has these programs and no other. */
async function prepare (t: Test, programs: Record<string, string>, env: Record<string, string> = {}) {
  const path = await folder(t, programs)
  for (const name of Object.keys(programs)) chmodSync(join(path, name), 0o755)
  const { status, stdout, stderr } = spawnSync(process.execPath, [SCRIPT], {
    env: { PATH: path, ...env },
    encoding: 'utf8'
  })
  const calls = join(path, 'calls')
  return { status, stdout, stderr, calls: existsSync(calls) ? readFileSync(calls, 'utf8').trim().split('\n') : [] }
}

t.test('what the tests need is installed', { skip: process.platform !== 'linux' && 'apt-get is for Linux' }, async t => {
  t.test('nothing happens when all of it is there', async t => {
    t.strictSame(
      await prepare(t, { Xvfb: '', ...OTHERS, 'apt-get': APT, sudo: SUDO }),
      { status: 0, stdout: '', stderr: '', calls: [] }
    )
  })

  t.test('what is missing is installed, after the list of packages was fetched if it takes that', async t => {
    const { status, stderr, calls } = await prepare(t, { ...OTHERS, 'apt-get': APT, sudo: SUDO })
    t.match(calls, [/install -y --no-install-recommends xvfb$/, /update$/, /install -y --no-install-recommends xvfb$/])
    t.strictSame([status, stderr], [0, 'The tests need xvfb: installing with apt-get.\n'])
  })

  t.test('nothing is installed with TEST_INSTALL=no, and what is missing is named', async t => {
    const { status, stderr, calls } = await prepare(
      t,
      { ...OTHERS, 'apt-get': APT, sudo: SUDO },
      { TEST_INSTALL: 'no' }
    )
    t.strictSame([status, calls], [0, []])
    t.match(stderr, /Xvfb could not be installed: TEST_INSTALL is "no"[^]*SKIPPED[^]*sudo apt-get install xvfb/)
  })

  t.test('what cannot be had is told, with the reason and what to do', async t => {
    const none = await prepare(t, {})
    t.equal(none.status, 0)
    t.match(
      none.stderr,
      /Xvfb and xsel and redis-server and nginx and chromium and promtool and zsh and fish could not be installed: this takes apt-get[^]*SKIPPED[^]*sudo apt-get install xvfb xsel redis-server nginx chromium prometheus zsh fish/
    )
    const broken = await prepare(t, { 'apt-get': '#!/bin/sh\necho "E: no network" >&2\nexit 100\n', sudo: SUDO })
    t.match(broken.stderr, /could not be installed: .*apt-get .*update failed\nE: no network[^]*SKIPPED/)
  })
})
