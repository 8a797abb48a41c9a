import { spawn, type ChildProcessWithoutNullStreams } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import t, { type Test } from 'tap'
import { COMMAND } from '../support/command.js'
import { Inbox, inTime } from '../support/wait.js'
import { call, callTool, initialize } from '../support/messages.js'
import { summarise } from '../support/summary.js'
import { readLines } from '../support/connections.js'

const LIMIT = 4 * 1024 * 1024
/**
 * Node collects the buffers it has read from a pipe only when there are this many of them; memory.test.ts measures what
 * is kept.
 */
const GARBAGE = 64 * 1024 * 1024
const ping = (id: unknown) => `${call('ping', {}, id)('legacy')}\n`

interface Child {
  process: ChildProcessWithoutNullStreams
  inbox: Inbox<unknown>
  stderr: () => string
  exit: Promise<unknown>
}

t.test('the command survives what is written to it', async t => {
  // A process takes longest to start.
  t.jobs = 4

  t.test('J2 to J9: a process answers strange lines one by one, and ends with its input', async t => {
    const { process, inbox, stderr, exit } = await start(t)
    const zone = Buffer.from(callTool('get_current_time', { timeZone: 'Höhle😀' })('legacy') + '\n')
    for (const byte of zone) {
      process.stdin.write(Buffer.from([byte]))
      await new Promise(resolve => setImmediate(resolve))
    }
    t.match(
      await inbox.next(),
      { id: 7, result: { isError: true, content: [{ text: /Höhle😀/ }] } },
      'a byte at a time'
    )
    process.stdin.write(`${ping(1).trim()}\r\n`)
    t.equal(summarise(await inbox.next()), 'ok id 1', 'CR and LF')
    process.stdin.write(`Content-Length: 40\r\n\r\n${ping(2)}\0\n${ping(3).trim()}\r${ping(4)}`)
    const received = [
      await nextSummary(inbox),
      await nextSummary(inbox),
      await nextSummary(inbox),
      await nextSummary(inbox)
    ]
    t.strictSame(received.sort(), ['-32700 id null', '-32700 id null', '-32700 id null', 'ok id 2'])
    process.stdin.write(Array.from({ length: 1_000 }, (_, id) => ping(id)).join(''))
    for (let id = 0; id < 1_000; id++) await inbox.next()
    process.stdin.end(ping('last'))
    t.equal(await nextSummary(inbox), 'ok id "last"')
    t.strictSame(await inTime(exit, 'the end of the process', 60_000), [0, null])
    t.equal(inbox.size, 0)
    noTrace(t, stderr())
  })

  t.test('J11: 200 MB without a line end are skipped, refused once, and not kept', async t => {
    const { process, inbox, stderr, exit } = await start(t)
    const before = peakMemory(process.pid)
    const chunk = Buffer.alloc(1024 * 1024, 'x')
    for (let sent = 0; sent < 200; sent++) if (!process.stdin.write(chunk)) await once(process.stdin, 'drain')
    process.stdin.write(`\n${ping(5)}`)
    t.strictSame([await nextSummary(inbox), await nextSummary(inbox)], ['-32600 id null', 'ok id 5'])
    const grown = peakMemory(process.pid) - before
    t.ok(grown <= 2 * LIMIT + GARBAGE, `its memory grew by ${(grown / 1024 / 1024).toFixed(1)} MB`)
    process.stdin.end()
    t.strictSame(await inTime(exit, 'the end of the process', 60_000), [0, null])
    noTrace(t, stderr())
  })

  t.test('J14: a launcher that dies while we start takes us with it', async t => {
    const { process, exit } = launch(t)
    for (const stream of [process.stdin, process.stdout, process.stderr]) stream.destroy()
    t.strictSame(await inTime(exit, 'the end of the process', 60_000), [0, null])
  })

  t.test('J14: a launcher that dies later takes us with it', async t => {
    const { process, exit } = await start(t)
    for (const stream of [process.stdin, process.stdout, process.stderr]) stream.destroy()
    t.strictSame(await inTime(exit, 'the end of the process', 60_000), [0, null])
  })

  t.test('J14: a client that closes the standard error of the gateway is served all the same', async t => {
    const { process, inbox, exit } = launch(t)
    process.stderr.destroy()
    process.stdin.write(`${initialize()}\nnot JSON\n${ping(1)}`)
    t.strictSame([summarise(await inbox.next(60_000)), await nextSummary(inbox), await nextSummary(inbox)].sort(), [
      '-32700 id null',
      'ok id 0',
      'ok id 1'
    ])
    process.stdin.end(ping(2))
    t.equal(await nextSummary(inbox), 'ok id 2')
    t.strictSame(await inTime(exit, 'the end of the process', 60_000), [0, null])
  })

  for (const lost of ['before any message', 'while calls are in flight']) {
    t.test(`J14: a client that closes the output of the gateway ${lost} ends it quietly`, async t => {
      const { process, stderr, exit } = await start(t)
      if (lost.startsWith('while')) process.stdin.write(Array.from({ length: 100 }, (_, id) => ping(id)).join(''))
      process.stdout.destroy()
      const nagging = setInterval(() => { if (process.stdin.writable) process.stdin.write(ping(1)) }, 20)
      t.strictSame(await inTime(exit, 'the end of the process', 60_000), [0, null])
      clearInterval(nagging)
      noTrace(t, stderr())
    })
  }
})

/** A process that has shaken hands. */
async function start (t: Test): Promise<Child> {
  const child = launch(t)
  child.process.stdin.write(`${initialize()}\n`)
  t.equal(summarise(await child.inbox.next(60_000)), 'ok id 0')
  return child
}

function launch (t: Test): Child {
  const child = spawn(process.execPath, [COMMAND, '--stdio', '--ephemeral'], { stdio: 'pipe' })
  t.teardown(() => { child.kill('SIGKILL') })
  const inbox = new Inbox<unknown>()
  readLines(child.stdout, line => inbox.push(JSON.parse(line)))
  let stderr = ''
  child.stderr.setEncoding('utf8').on('data', (text: string) => { stderr += text })
  child.stdin.on('error', () => {})
  return { process: child, inbox, stderr: () => stderr, exit: once(child, 'exit') }
}

async function nextSummary (inbox: Inbox<unknown>): Promise<string> {
  return summarise(await inbox.next())
}

/** Logs may be written, but nothing that looks like a crash. */
function noTrace (t: Test, stderr: string): void {
  t.notMatch(stderr, /^\s+at |Error:|EPIPE|unhandled|uncaught|"level":(50|60)/im)
}

function peakMemory (pid: number | undefined): number {
  return Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) * 1024
}
