import { mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import type { Test } from 'tap'
import { build, createClient, type Client, type Options } from '../../app.js'
import { until } from './wait.js'

// Lines of TypeScript, as the command gives them.
process.setSourceMapsEnabled(true)

/** A folder of an author, and a gateway in this process that watches it. */
export interface WatchedFolder {
  root: string
  app: Awaited<ReturnType<typeof build>>
  client: Client
  /** The messages of the log. */
  log: string[]
  write: (name: string, text: string) => void
  /** Saves as many editors do: writes another file and renames it. */
  save: (name: string, text: string) => void
  remove: (name: string) => void
  /** Waits for the next message of the log that matches, and returns it. */
  logged: (pattern: RegExp) => Promise<string>
  /** The text that a tool returns. */
  call: (name: string) => Promise<string>
}

/** The source of a tool that returns the value of an expression. */
export const toolSource = (name: string, expression: string, more = ''): string =>
  `import { tool } from 'mcp-patchbay'\n${more}\nexport default tool({ name: '${name}', description: 'd', run: async (input, call) => String(${expression}) })\n`

/** Starts a gateway with the files, where `plugins` are relative to their folder, which `prepare` may change before. */
export async function watchedFolder (
  t: Test,
  files: Record<string, string>,
  plugins: string[],
  options: Partial<Options> = {},
  prepare: (root: string) => void = () => {}
): Promise<WatchedFolder> {
  const root = await mkdtemp(join(tmpdir(), 'patchbay-watch-'))
  const write = (name: string, text: string): void => {
    mkdirSync(dirname(join(root, name)), { recursive: true })
    writeFileSync(join(root, name), text)
  }
  for (const [name, text] of Object.entries(files)) write(name, text)
  prepare(root)
  const log: string[] = []
  const stream = {
    write: (line: string) => {
      log.push((JSON.parse(line) as { msg: string }).msg)
    }
  }
  const app = await build(
    {
      plugins: plugins.map(each => join(root, each)),
      tools: false,
      http: false,
      audit: false,
      reload: true,
      ...options,
      limits: { maxEventLoopDelay: 60_000, ...options.limits }
    },
    { logger: { level: 'info', stream } }
  )
  await app.ready()
  const client = await createClient(app)
  t.teardown(async () => {
    await app.close()
    await rm(root, { recursive: true, force: true })
  })
  let read = 0
  return {
    root,
    app,
    client,
    log,
    write,
    save: (name, text) => {
      writeFileSync(join(root, `${name}.saved`), text)
      renameSync(join(root, `${name}.saved`), join(root, name))
    },
    remove: name => rmSync(join(root, name), { recursive: true }),
    logged: async pattern => {
      const find = (): number => log.findIndex((line, index) => index >= read && pattern.test(line))
      await until(() => find() !== -1, `${String(pattern)} in the log, where is ${log.join(' | ')}`)
      read = find() + 1
      return log[read - 1] as string
    },
    call: async name => {
      const { content } = (await client.request('tools/call', { name, arguments: {} })) as {
        content: Array<{ text: string }>
      }
      return content.map(({ text }) => text).join('')
    }
  }
}
