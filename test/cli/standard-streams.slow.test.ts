import { spawn } from 'node:child_process'
import { PassThrough } from 'node:stream'
import type { Socket } from 'node:net'
import t from 'tap'
import { watchInput } from '../../cli/process/standard-streams.js'
import { COMMAND } from '../support/command.js'
import { initialize, launch, Launched, PROCESSES } from '../support/process.js'
import { until } from '../support/wait.js'

const HINT = 'standard input carries JSON-RPC, but --stdio is not set; add --stdio to the arguments'
const hints = ({ stderr }: { stderr: string }): number => stderr.split(HINT).length - 1

t.test('a gateway without --stdio', async t => {
  t.jobs = PROCESSES

  t.test(
    'logs once that --stdio is missing when a client sends JSON-RPC, and writes nothing to standard output',
    { buffered: true },
    async t => {
      const launched = await launch(t, ['--port', '0', '--ephemeral']).up()
      launched.send(initialize)
      await until(async () => hints(launched) === 1)
      launched.send(initialize, initialize)
      const url = await launched.url()
      t.equal((await fetch(`${url}/health`)).status, 200)
      launched.end()
      t.equal((await fetch(`${url}/health`)).status, 200, 'the end of standard input does not end it')
      launched.kill('SIGTERM')
      const ended = await launched.exit()
      t.match(ended, { code: 0, stdout: '' })
      t.equal(hints(ended), 1)
    }
  )

  t.test(
    'ends at a signal although standard input is open and silent, or carries something else',
    { buffered: true },
    async t => {
      for (const text of ['', 'hello\n{"jsonrpc":"2.0"}\n', '{"a":1}\n']) {
        const launched = await launch(t, ['--port', '0', '--ephemeral']).up()
        launched.write(text)
        launched.kill('SIGTERM')
        const ended = await launched.exit()
        t.match(ended, { code: 0, stdout: '' })
        t.equal(hints(ended), 0)
      }
    }
  )

  for (const [what, redirect] of [['closed', '<&-'], ['/dev/null', '</dev/null'], ['a file', '<"$0"']] as const) {
    t.test(`serves when standard input is ${what}`, { buffered: true }, async t => {
      const child = spawn(
        'sh',
        ['-c', `exec "$@" ${redirect}`, COMMAND, process.execPath, COMMAND, '--port', '0', '--ephemeral'],
        { env: { PATH: process.env['PATH'] } }
      )
      const launched = new Launched(child)
      t.teardown(async () => { child.kill('SIGKILL'); await launched.ended })
      t.equal((await fetch(`${await launched.url()}/health`)).status, 200)
      launched.kill('SIGTERM')
      const ended = await launched.exit()
      t.equal(ended.code, 0)
      t.equal(hints(ended), 0)
    })
  }
})

/** What is reported for chunks of input, and whether reading went on after them. */
async function watched (...chunks: string[]): Promise<{ reports: number, reading: boolean }> {
  let reports = 0
  const input = Object.assign(new PassThrough(), { unref: () => {} })
  watchInput(input as unknown as Socket, () => { reports++ })
  for (const chunk of chunks) {
    input.write(chunk)
    await new Promise(resolve => setImmediate(resolve))
  }
  return { reports, reading: !input.isPaused() }
}

t.test('only the first line is looked at, and at most 64 KiB of it', async t => {
  t.strictSame(await watched('{"json', 'rpc":"2.0","id":1}', '\n'), { reports: 1, reading: false }, 'in pieces')
  t.strictSame(
    await watched('[{"id":1,"jsonrpc":"2.0"}]\n{"jsonrpc":"2.0"}\n'),
    { reports: 1, reading: false },
    'a batch'
  )
  t.strictSame(await watched('{"id":1}\n'), { reports: 0, reading: false })
  t.strictSame(
    await watched('{"jsonrpc":"2.0",', '"'.padEnd(70_000, 'x')),
    { reports: 1, reading: false },
    'a long one'
  )
  t.strictSame(await watched('x'.repeat(1000)), { reports: 0, reading: true })
})

t.test('an error of standard input is not an error of the gateway', async t => {
  const input = Object.assign(new PassThrough(), { unref: () => {} })
  watchInput(input as unknown as Socket, () => t.fail())
  const closed = new Promise(resolve => input.once('close', resolve))
  input.destroy(new Error('read EIO'))
  await closed
})
