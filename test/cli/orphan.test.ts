import { spawn } from 'node:child_process'
import { once } from 'node:events'
import t from 'tap'
import { COMMAND } from '../support/command.js'
import { inTime, until } from '../support/wait.js'

/** Starts a gateway the way a desktop client does, and is killed as soon as it is up. */
const LAUNCHER = `
const { spawn } = require('node:child_process')
const child = spawn(process.execPath, process.argv.slice(1), { env: { PATH: process.env.PATH } })
let said = ''
child.stderr.on('data', chunk => {
  said += chunk
  if (!said.includes(' is up: stdio;')) return
  process.stdout.write(child.pid + '\\n', () => process.kill(process.pid, 'SIGKILL'))
})`

const isThere = (pid: number): boolean => {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

for (const [what, args] of [['stdio', []], ['stdio and HTTP', ['--port', '0']]] as const) {
  t.test(`a gateway on ${what} whose launcher is killed ends`, async t => {
    const launcher = spawn(process.execPath, ['-e', LAUNCHER, COMMAND, '--stdio', '--ephemeral', ...args], {
      env: { PATH: process.env['PATH'] }
    })
    const [line] = await inTime(once(launcher.stdout, 'data'), 'the start', 60_000) as [Buffer]
    const pid = Number(line)
    t.teardown(() => { if (isThere(pid)) process.kill(pid, 'SIGKILL') })
    await until(() => !isThere(pid), 'the end of the gateway')
    t.ok(pid > 1)
  })
}
