import type { ChildProcess } from 'node:child_process'
import type { Stream } from 'node:stream'
import { fileURLToPath } from 'node:url'
import type { Test } from 'tap'
import { COMMAND } from '../support/command.js'
import fixture, { listening } from '../support/gateway.js'
import { until } from '../support/wait.js'
import levers from './levers.js'

export const PAGE_SIZE = 5

/** A way to a server of our own. */
export interface Connection<T> {
  transport: T
  /** Leaves as the transport wants it, and settles when the server has noticed and kept nothing. */
  leave: (t: Test, close: () => Promise<void>) => Promise<void>
}

interface StdioParameters { command: string, args: string[], env: Record<string, string>, stderr: 'pipe' }

/** The command line as a desktop client launches it, in a process of its own. */
export async function stdio<T extends { stderr: Stream | null }> (
  t: Test,
  Transport: new (parameters: StdioParameters) => T
): Promise<Connection<T>> {
  const transport = new Transport({
    command: process.execPath,
    args: [COMMAND, '--stdio', '--ephemeral', '--plugin', path('../support/gateway.js'), '--plugin', path('levers.js')],
    env: { PATCHBAY_PAGE_SIZE: String(PAGE_SIZE) },
    stderr: 'pipe'
  })
  let errors = ''
  transport.stderr?.on('data', (chunk: Buffer) => {
    errors += String(chunk)
  })
  t.teardown(() => {
    if (!t.passing()) t.comment(errors)
  })
  return {
    transport,
    leave: async (t, close) => {
      const child = (transport as unknown as { _process: ChildProcess })._process
      await close()
      t.equal(child.exitCode, 0, 'the process ended by itself')
      t.notMatch(errors, /SIGTERM/, 'no signal was needed')
    }
  }
}

/** A server that listens, and what it has kept of its clients. */
export interface Server {
  url: string
  /** Settles with the number of sessions after one was ended. */
  sessions: () => Promise<number>
  /** Settles when no client is known. */
  forgotten: () => Promise<void>
}

/** Streamable HTTP. */
export async function http<T extends { terminateSession: () => Promise<void> }> (
  t: Test,
  Transport: new (url: URL) => T,
  server?: Server
): Promise<Connection<T>> {
  const { url, sessions, forgotten } = server ?? (await serve(t))
  const transport = new Transport(new URL('/mcp', url))
  return {
    transport,
    leave: async (t, close) => {
      await transport.terminateSession()
      t.equal(await sessions(), 0, 'the session is over')
      await close()
      await forgotten()
    }
  }
}

/** HTTP+SSE, the transport of 2024. */
export async function sse<T> (t: Test, Transport: new (url: URL) => T, server?: Server): Promise<Connection<T>> {
  return plain(Transport, url => new URL('/sse', url), server ?? await serve(t))
}

export async function webSocket<T> (t: Test, Transport: new (url: URL) => T, server?: Server): Promise<Connection<T>> {
  return plain(Transport, url => new URL('/mcp', url.replace('http', 'ws')), server ?? await serve(t))
}

function plain<T> (
  Transport: new (url: URL) => T,
  address: (url: string) => URL,
  { url, forgotten }: Server
): Connection<T> {
  return {
    transport: new Transport(address(url)),
    leave: async (_t, close) => {
      await close()
      await forgotten()
    }
  }
}

/** A gateway of this process. */
async function serve (t: Test): Promise<Server> {
  const { app: { mcp }, url } = await listening(t, { plugins: [fixture, levers], pageSize: PAGE_SIZE })
  return {
    url,
    sessions: async () => mcp.sessions.size,
    forgotten: async () => await until(() => mcp.dispatcher.lifecycle.peers.size === 0, 'the server forgets the client')
  }
}

const path = (relative: string): string => fileURLToPath(new URL(relative, import.meta.url))
