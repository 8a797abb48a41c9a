import type { ChildProcess } from 'node:child_process'
import type { Stream } from 'node:stream'
import { fileURLToPath } from 'node:url'
import type { FastifyInstance } from 'fastify'
import type { Test } from 'tap'
import { COMMAND } from '../support/command.js'
import fixture, { listening } from '../support/gateway.js'
import { until } from '../support/wait.js'
import levers from './levers.js'

const PAGE_SIZE = 5

/** A way to a server of our own. */
export interface Connection<T> {
  transport: T
  /** Leaves as the transport wants it, and settles when the server has noticed and kept nothing. */
  leave: (t: Test, close: () => Promise<void>) => Promise<void>
}

interface StdioParameters { command: string, args: string[], env: Record<string, string>, stderr: 'pipe' }

/** The command line as a desktop client launches it, in a process of its own. */
export async function stdio<T extends { stderr: Stream | null }> (t: Test, Transport: new (parameters: StdioParameters) => T): Promise<Connection<T>> {
  const transport = new Transport({
    command: process.execPath,
    args: [COMMAND, '--stdio', '--ephemeral', '--plugin', path('../support/gateway.js'), '--plugin', path('levers.js')],
    env: { PATCHBAY_PAGE_SIZE: String(PAGE_SIZE) },
    stderr: 'pipe'
  })
  let errors = ''
  transport.stderr?.on('data', (chunk: Buffer) => { errors += String(chunk) })
  t.teardown(() => { if (!t.passing()) t.comment(errors) })
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

/** Streamable HTTP. */
export async function http<T extends { terminateSession: () => Promise<void> }> (t: Test, Transport: new (url: URL) => T): Promise<Connection<T>> {
  const { app, url } = await serve(t)
  const transport = new Transport(new URL('/mcp', url))
  return {
    transport,
    leave: async (t, close) => {
      await transport.terminateSession()
      t.equal(app.mcp.sessions.size, 0, 'the session is over')
      await close()
      await forgotten(app)
    }
  }
}

/** HTTP+SSE, the transport of 2024. */
export async function sse<T> (t: Test, Transport: new (url: URL) => T): Promise<Connection<T>> {
  return await plain(t, Transport, url => new URL('/sse', url))
}

export async function webSocket<T> (t: Test, Transport: new (url: URL) => T): Promise<Connection<T>> {
  return await plain(t, Transport, url => new URL('/mcp', url.replace('http', 'ws')))
}

async function plain<T> (t: Test, Transport: new (url: URL) => T, address: (url: string) => URL): Promise<Connection<T>> {
  const { app, url } = await serve(t)
  return {
    transport: new Transport(address(url)),
    leave: async (_t, close) => {
      await close()
      await forgotten(app)
    }
  }
}

async function serve (t: Test): Promise<{ app: FastifyInstance, url: string }> {
  return await listening(t, { plugins: [fixture, levers], pageSize: PAGE_SIZE })
}

async function forgotten ({ mcp }: FastifyInstance): Promise<void> {
  await until(() => mcp.dispatcher.lifecycle.peers.size === 0, 'the server forgets the client')
}

const path = (relative: string): string => fileURLToPath(new URL(relative, import.meta.url))
