import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmod, mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import t, { type Test } from 'tap'
import { deathSignalPrefix, startServer, type ServerProgram } from '../../../system/programs/server/start-server.js'
import type { ServerProcess } from '../../../system/programs/server/server-process.js'
import { folder } from '../../support/process.js'
import { isRunning, pidsIn, untilGone } from '../../support/processes.js'
import { inTime, nextEvent } from '../../support/wait.js'

const env = { PATH: process.env['PATH'] }

async function start (t: Test, script: string, options: Partial<ServerProgram> = {}): Promise<ServerProcess> {
  const server = await startServer({
    command: 'sh',
    args: ['-c', script],
    env,
    cwd: undefined,
    stopStep: () => 150,
    onError: () => {},
    ...options
  })
  t.teardown(async () => await server.stop())
  server.stdout.resume()
  return server
}

t.test('a program that ends with its standard input is not signalled', async t => {
  const server = await start(t, 'trap "exit 9" TERM; cat; exit 3', { stopStep: () => 30_000 })
  await server.stop()
  t.equal(await server.ended, 'it exited with code 3')
})

t.test('a program that ends with its input unread breaks no stream that nothing listens to', async t => {
  const server = await start(t, 'exit 3')
  server.stdin.write('x'.repeat(1_000_000))
  t.equal(await server.ended, 'it exited with code 3')
})

t.test('a program that goes on after the end of its input gets SIGTERM', async t => {
  const server = await start(t, 'trap "exit 9" TERM; echo ready; while :; do sleep 0.02; done')
  await nextEvent(server.stdout, 'data')
  await server.stop()
  t.equal(await server.ended, 'it exited with code 9')
})

t.test(
  'a process that the program started detached, in a session of its own, is ended with it',
  { skip: process.platform !== 'linux' && 'only Linux says whose children they are' },
  async t => {
    const pids = join(await folder(t, {}), 'pids')
    const grandchild = `setInterval(() => {}, 1000); process.on('SIGTERM', () => {}); require('fs').appendFileSync(${JSON.stringify(pids)}, process.pid + '\\n')`
    const script = `require('child_process').spawn(process.execPath, ['-e', ${JSON.stringify(grandchild)}], { detached: true, stdio: 'ignore' }).unref(); process.stdin.resume().on('end', () => process.exit(0))`
    const server = await start(t, '', { command: process.execPath, args: ['-e', script], stopStep: () => 150 })
    const [detached = 0] = await pidsIn(pids, 1)
    t.teardown(() => {
      if (isRunning(detached)) process.kill(detached, 'SIGKILL')
    })
    t.ok(isRunning(detached))
    await server.stop()
    t.equal(await server.ended, 'it exited with code 0')
    await untilGone([detached])
  }
)

t.test('a program that ignores signals is killed, with all that it started', async t => {
  const pids = join(await folder(t, {}), 'pids')
  const server = await start(
    t,
    `trap "" TERM INT; echo $$ >>${pids}; (echo $(sh -c 'echo $PPID') >>${pids}; while :; do sleep 1; done) & while :; do sleep 1; done`
  )
  const all = await pidsIn(pids, 2)
  t.ok(all.every(isRunning))
  await server.stop()
  t.notOk(all.some(isRunning))
  t.equal(await server.ended, 'it was ended by SIGKILL')
})

t.test('what a program started and left behind is killed when it ends', async t => {
  const pids = join(await folder(t, {}), 'pids')
  const server = await start(t, `sleep 1000 & echo $! >>${pids}; exit 0`)
  t.equal(await inTime(server.ended, 'the end'), 'it exited with code 0')
  await untilGone(await pidsIn(pids, 1))
})

t.test('what a wrapper started may finish its work after the wrapper has ended', async t => {
  const path = await folder(t, {})
  const pids = join(path, 'pids')
  const server = await start(
    t,
    `(trap "" TERM; echo x >>${pids}; cat >/dev/null; sleep 0.1; echo done >${path}/done) & echo x >>${pids}; wait`,
    { stopStep: () => 10_000 }
  )
  await pidsIn(pids, 2)
  await server.stop()
  t.equal(await readFile(join(path, 'done'), 'utf8'), 'done\n')
})

t.test('a stopped program is killed, too', async t => {
  const server = await start(t, 'echo ready; exec sleep 1000')
  await nextEvent(server.stdout, 'data')
  process.kill(server.pid, 'SIGSTOP')
  await server.stop()
  t.notOk(isRunning(server.pid))
})

t.test('stopping is done once, and not at all after the end', async t => {
  const server = await start(t, 'cat')
  await Promise.all([server.stop(), server.stop()])
  t.equal(await server.ended, 'it exited with code 0')
  await server.stop()
})

t.test('a program has a session of its own, so that it has no terminal', async t => {
  let text = ''
  const server = await start(t, 'ps -o sid= -p $$ >&2; (echo oh >/dev/tty) 2>/dev/null && echo wrote >&2; exit 0', {
    onError: chunk => {
      text += chunk.toString()
    }
  })
  await server.ended
  t.equal(text.trim(), String(server.pid))
})

t.test('a program gets its own variables and none of ours', async t => {
  process.env['OUR_SECRET'] = 'secret'
  t.teardown(() => { delete process.env['OUR_SECRET'] })
  let text = ''
  const server = await start(t, 'env >&2', { env: { ...env, A: 'b' }, onError: chunk => { text += chunk.toString() } })
  await server.ended
  t.match(text, /^A=b$/m)
  t.notMatch(text, /OUR_SECRET|HOME/)
})

t.test('a flood on standard error blocks neither side', async t => {
  let bytes = 0
  const server = await start(t, 'head -c 3000000 /dev/zero >&2; echo ready; cat', {
    onError: chunk => {
      bytes += chunk.length
    }
  })
  await nextEvent(server.stdout, 'data')
  await server.stop()
  t.equal(bytes, 3_000_000)
})

t.test('what cannot be started is described, and says what to do', async t => {
  const path = await folder(t, { plain: '', script: '#!/nowhere/interpreter\n' })
  await chmod(join(path, 'script'), 0o755)
  await mkdir(join(path, 'sub'))
  const failure = async (program: Partial<ServerProgram>) =>
    await start(t, '', program).then(
      () => 'started',
      (error: Error) => error.message
    )
  t.equal(
    await failure({ command: 'npx', env: { PATH: '/nowhere:/usr/nothing' } }),
    'npx is not on PATH; write the whole path of the program as its command, or set PATH in its env (PATH is /nowhere:/usr/nothing)'
  )
  t.equal(
    await failure({ command: 'npx -y server', env: { PATH: '/nowhere' } }),
    'npx -y server is not on PATH; command is the program alone: put its arguments into args (PATH is /nowhere)'
  )
  if (process.platform !== 'win32') {
    t.equal(
      await failure({ command: 'C:\\Program Files\\nodejs\\npx.cmd' }),
      'C:\\Program Files\\nodejs\\npx.cmd is a path of Windows, and this is not Windows; write the program of this system, such as npx'
    )
    t.equal(
      await failure({ command: 'C:/nodejs/npx.cmd' }),
      'C:/nodejs/npx.cmd is a path of Windows, and this is not Windows; write the program of this system, such as npx'
    )
    t.equal(
      await failure({ command: 'cmd', env: { PATH: '/nowhere' } }),
      'cmd is a program of Windows; leave cmd and /c out: command is what comes after them, such as npx'
    )
  }
  t.match(
    await failure({ command: '/bin/sh -c true' }),
    /; correct command, and put its arguments, if it has any, into args$/
  )
  t.equal(
    await failure({ command: join(path, 'missing') }),
    `${path}/missing is not there, or is no file that this user may execute; correct command`
  )
  t.match(
    await failure({ command: './plain', cwd: path }),
    /plain is not there, or is no file that this user may execute/
  )
  t.match(await failure({ command: path }), /is no file that this user may execute/)
  t.equal(
    await failure({ cwd: join(path, 'missing') }),
    `its folder ${path}/missing is not there, or may not be entered; correct cwd`
  )
  await writeFile(join(path, 'sub', 'tool'), '#!/bin/sh\necho ready\ncat\n')
  await chmod(join(path, 'sub', 'tool'), 0o755)
  t.equal(await failure({ command: 'sub/tool', args: [], cwd: path }), 'started', 'a path is relative to the folder')
})

const setpriv = (await deathSignalPrefix()).length > 0

t.test(
  'the kernel kills a program when the process that started it is killed',
  { skip: setpriv ? false : 'setpriv of util-linux is not there' },
  async t => {
    const module = new URL('../../../system/programs/server/start-server.js', import.meta.url)
    const code = `const { startServer } = await import(${JSON.stringify(fileURLToPath(module))})
    const server = await startServer({ command: 'sleep', args: ['1000'], env: process.env, cwd: undefined, stopStep: () => 100, onError () {} })
    console.log(server.pid)`
    const parent = spawn(process.execPath, ['--input-type=module', '-e', code], {
      stdio: ['ignore', 'pipe', 'inherit']
    })
    const [chunk] = await nextEvent(parent.stdout, 'data')
    const pid = Number(String(chunk))
    t.ok(isRunning(pid))
    parent.kill('SIGKILL')
    await once(parent, 'exit')
    await untilGone([pid])
  }
)
