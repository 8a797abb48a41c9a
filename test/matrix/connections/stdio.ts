import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { PassThrough, type Readable } from 'node:stream'
import { fileURLToPath } from 'node:url'
import { COMMAND } from '../../support/command.js'
import { serveStdio } from '../../../app.js'
import { inTime } from '../../support/wait.js'
import type { Place, Receive, Connection } from '../connection.js'

const MAX_MESSAGE = 1024 * 1024

/** The stdio transport on a pair of streams of this process. */
export async function openStreams ({ app, view }: Place, receive: Receive): Promise<Connection> {
  if (app === undefined) throw new Error('stdio on streams needs a gateway in this process')
  const input = new PassThrough()
  const output = new PassThrough()
  const { closed } = serveStdio(app.mcp, { input, output, maxMessage: MAX_MESSAGE, view })
  readLines(output, receive)
  return {
    send: ({ text }) => { input.write(`${text}\n`); return cannotDrop },
    close: async () => { input.end(); await inTime(closed, 'the end of stdio') }
  }
}

/** A gateway in a process of its own, the way a desktop client launches it. */
export async function openProcess ({ view }: Place, receive: Receive): Promise<Connection> {
  return await openCommand(
    [
      ...['../../support/gateway.js', '../fixture.js'].flatMap(file => ['--plugin', pathOf(file)]),
      ...(view === undefined ? [] : ['--view', view])
    ],
    receive
  )
}

/** The same with these arguments. */
export async function openCommand (args: string[], receive: Receive): Promise<Connection> {
  const child = spawn(process.execPath, [COMMAND, '--stdio', '--ephemeral', '--log-level', 'silent', ...args], {
    stdio: ['pipe', 'pipe', 'ignore'],
    env: { ...process.env, PATCHBAY_PAGE_SIZE: '2' }
  })
  const exited = once(child, 'close') as Promise<[number | null]>
  readLines(child.stdout, receive)
  return {
    send: ({ text }) => { child.stdin.write(`${text}\n`); return cannotDrop },
    close: async () => {
      child.stdin.end()
      const [code] = await inTime(exited, 'the end of the process').catch(error => { child.kill(); throw error })
      if (code !== 0) throw new Error(`the process ended with ${code}`)
    }
  }
}

const cannotDrop = { drop: () => { throw new Error('one line of stdio cannot be dropped') } }

const pathOf = (file: string): string => fileURLToPath(new URL(file, import.meta.url))

// A line that is not JSON is an error of the server and must be seen, so it is passed on as it is.
function readLines (output: Readable, receive: Receive): void {
  createInterface({ input: output }).on('line', line => receive(parse(line)))
}

function parse (line: string): unknown {
  try {
    return JSON.parse(line)
  } catch {
    return line
  }
}
