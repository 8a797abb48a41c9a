import { basename } from 'node:path'
import type { FastifyInstance } from 'fastify'
import type { ResourceContents } from '../protocol/wire/content.js'
import { errors } from '../protocol/wire/errors.js'
import { resource, type Resource } from '../protocol/definitions/resource.js'
import type { Folder } from '../system/files/folder.js'

type FileTypes = typeof import('../system/files/file-type.js')

export default async function fileResources (fastify: FastifyInstance): Promise<void> {
  if (fastify.mcp.folders.length === 0) {
    fastify.mcp.unavailable.set(
      'file resources',
      'no folders are served: name them with --root, see docs/built-in-tools.md'
    )
    return
  }
  // Loaded only if files are served, because the table of types is large; and at start, because Node.js never retries a
  // failed import.
  const types = await import('../system/files/file-type.js')
  for (const folder of fastify.mcp.folders) fastify.mcp.resources.add(filesOf(folder, types))
}

function filesOf (folder: Folder, types: FileTypes): Resource {
  return resource({
    uri: `${folder.uri}{+path}`,
    name: basename(folder.path) || folder.path,
    scopes: ['files'],
    description: `The files below ${folder.path}, read-only`,
    complete: { path: async typed => await folder.suggest(typed) },
    list: async (after, size, { signal }) => await listFiles(folder, types, after, size, signal),
    watch: async (uri, changed) => await folder.watch(uri, changed).catch(cannotWatch),
    read: async (_variables, { signal }, uri) => await read(folder, types, uri, signal)
  })
}

async function read (
  folder: Folder,
  types: FileTypes,
  uri: string,
  signal: AbortSignal
): Promise<ResourceContents[] | undefined> {
  const bytes = await folder.read(uri, signal)
  if (bytes === 'absent') return undefined
  if (bytes === 'unreadable') throw errors.fileUnreadable(uri)
  if (bytes === 'too large') throw errors.fileTooLarge(folder.maxFile, uri)
  const { mimeType, text } = types.detectType(uri, bytes)
  return [{ uri, mimeType, ...(text === undefined ? { blob: bytes.toString('base64') } : { text }) }]
}

async function listFiles (
  folder: Folder,
  { typeByName }: FileTypes,
  after: string | undefined,
  size: number,
  signal: AbortSignal
) {
  return (await folder.list(after, size, signal)).map(({ uri, path, size }) => {
    const mimeType = typeByName(uri)
    return { uri, name: path, ...(mimeType === undefined ? {} : { mimeType }), size }
  })
}

function cannotWatch (error: NodeJS.ErrnoException): never {
  if (!['ENOSPC', 'EMFILE', 'ENFILE'].includes(String(error.code))) throw error
  throw errors.tooManyWatches()
}
