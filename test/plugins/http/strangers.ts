import { cpSync, existsSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import type { FastifyInstance, FastifyPluginAsync } from 'fastify'
import type { Test } from 'tap'
import { installPackages } from '../../support/npm-packages.js'
import { folder } from '../../support/process.js'

const ROOT = fileURLToPath(new URL('../../../../', import.meta.url))
const SOURCES = join(ROOT, 'test/plugins/http/strangers-app')
const NAME = 'strangers-app'
/** Where `installPackages` keeps them. */
const PACKAGES = join(ROOT, 'node_modules/.cache/npm-servers', NAME, 'node_modules')

/** The application, which knows nothing of Patchbay. `max` is how many requests a client may send in a minute. */
interface Application {
  readonly default: FastifyPluginAsync<{ max?: number }>
  readonly createServer: (logger: object) => FastifyInstance
}

/** A server that is made of the application. */
export interface Server {
  readonly app: FastifyInstance
  readonly url: string
  /** The warnings and errors in its log. */
  readonly log: string[]
}

/** Installs what the application depends on, as `installPackages` does, and Patchbay beside it. */
export async function installApplication (): Promise<void> {
  const manifest = JSON.parse(readFileSync(join(SOURCES, 'package.json'), 'utf8')) as { dependencies: Record<string, string> }
  await installPackages(NAME, Object.entries(manifest.dependencies).map(([name, version]) => `${name}@${version}`))
  const link = join(PACKAGES, 'mcp-patchbay')
  if (!existsSync(link)) symlinkSync(ROOT, link)
}

/**
 * Serves a copy of the application until the test ends. `lines` is a file of its folder of plugins, as its author adds
 * it; `first` and `last` register something more before and after the application.
 */
export async function serve (
  t: Test,
  { lines, max = 1_000, first, last }: {
    lines?: string
    max?: number
    first?: (app: FastifyInstance) => Promise<void>
    last?: (app: FastifyInstance) => Promise<void>
  }
): Promise<Server> {
  const place = await folder(t, {})
  cpSync(SOURCES, place, { recursive: true })
  symlinkSync(PACKAGES, join(place, 'node_modules'))
  if (lines !== undefined) writeFileSync(join(place, 'plugins/app/tools.js'), lines)
  const { default: application, createServer } = await import(pathToFileURL(join(place, 'server.js')).href) as Application
  const log: string[] = []
  const app = createServer({ level: 'warn', stream: { write: (line: string) => { log.push(line) } } })
  t.teardown(async () => await app.close())
  await first?.(app)
  await app.register(application, { max })
  await last?.(app)
  return { app, url: await app.listen({ port: 0, host: '127.0.0.1' }), log }
}

/** Signs a member in, as its program and as its browser. */
export async function signIn ({ url }: Server, name: string): Promise<{ authorization: string, cookie: string }> {
  const reply = await fetch(`${url}/api/auth/login`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ name, password: name })
  })
  const { token } = await reply.json() as { token: string }
  const [cookie = ''] = reply.headers.getSetCookie().map(each => each.split(';')[0])
  return { authorization: `Bearer ${token}`, cookie }
}
