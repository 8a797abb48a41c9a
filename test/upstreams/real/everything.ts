import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createRequire } from 'node:module'
import { createServer } from 'node:net'
import { createInterface } from 'node:readline'
import { dirname, join } from 'node:path'
import type { Test } from 'tap'

const require = createRequire(import.meta.url)

/** The program of an official server. */
export function programOf (name: string): string {
  return join(dirname(require.resolve(`@modelcontextprotocol/${name}/package.json`)), 'dist/index.js')
}

/** Runs `server-everything` on a port until the test ends. */
export async function serveEverything (t: Test, transport: 'sse' | 'streamableHttp'): Promise<string> {
  const port = await serveOnPort(t, port => ({
    args: [programOf('server-everything'), transport],
    env: { PORT: port }
  }))
  return `http://127.0.0.1:${port}/${transport === 'sse' ? 'sse' : 'mcp'}`
}

/**
 * Runs a program that says `on port N` until the test ends; it takes no port of the system's choice, so another is
 * tried when one is taken.
 */
export async function serveOnPort (
  t: Test,
  program: (port: string) => { args: string[], env?: Record<string, string> }
): Promise<string> {
  for (let attempt = 0; attempt < 5; attempt++) {
    const port = await freePort()
    const { args, env } = program(port)
    const child = spawn(process.execPath, args, {
      env: { ...process.env, ...env },
      stdio: ['ignore', 'ignore', 'pipe']
    })
    t.teardown(async () => {
      if (child.exitCode === null && child.kill('SIGKILL')) await once(child, 'exit')
    })
    const listening = new Promise<boolean>(resolve => {
      createInterface({ input: child.stderr }).on('line', line => {
        if (line.includes(`on port ${port}`)) resolve(true)
      })
      child.once('exit', () => resolve(false))
    })
    if (await listening) return port
  }
  throw new Error('the server found no port')
}

async function freePort (): Promise<string> {
  const server = createServer().listen(0)
  await once(server, 'listening')
  const { port } = server.address() as { port: number }
  server.close()
  await once(server, 'close')
  return String(port)
}
