import { mkdir, mkdtemp, realpath, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { Test } from 'tap'
import { build, createClient, type Client, type Options } from '../../../app.js'

export type Json = Record<string, unknown>

export interface Listed { uri: string, name: string, mimeType?: string, size?: number }

/** A folder with these files, and folders for them. It goes when the test ends. */
export async function tree (t: Test, files: Record<string, string | Uint8Array>): Promise<string> {
  const root = await realpath(await mkdtemp(join(tmpdir(), 'patchbay-')))
  t.teardown(async () => await rm(root, { recursive: true, force: true }))
  for (const [path, content] of Object.entries(files)) {
    await mkdir(dirname(join(root, path)), { recursive: true })
    await writeFile(join(root, path), content)
  }
  return root
}

/** A gateway that serves folders, and a client of it. */
export async function serving (
  t: Test,
  roots: string[],
  { protocolVersion, ...options }: Partial<Options> & { protocolVersion?: string } = {}
) {
  const app = await build({
    http: false,
    grace: 500,
    roots,
    ...options,
    limits: { maxEventLoopDelay: 60_000, ...options.limits }
  })
  t.teardown(async () => await app.close())
  const client = await createClient(app, protocolVersion === undefined ? {} : { protocolVersion })
  return { app, client }
}

export const uriOf = (...path: string[]): string => pathToFileURL(join(...path)).href

export async function read ({ request }: Client, uri: string): Promise<Json> {
  const { contents } = await request('resources/read', { uri }) as { contents: [Json] }
  return contents[0]
}

/** The files of every page, page by page. */
export async function pages (
  { request }: Client,
  between = async (_page: number): Promise<void> => {}
): Promise<Listed[][]> {
  const all: Listed[][] = []
  let cursor: string | undefined
  do {
    const page = (await request('resources/list', cursor === undefined ? {} : { cursor })) as {
      resources: Listed[]
      nextCursor?: string
    }
    all.push(page.resources.filter(({ uri }) => uri.startsWith('file:')))
    cursor = page.nextCursor
    await between(all.length)
  } while (cursor !== undefined)
  return all
}

export async function names (client: Client): Promise<string[]> {
  return (await pages(client)).flat().map(({ name }) => name)
}
