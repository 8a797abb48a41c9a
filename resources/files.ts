import { basename } from 'node:path'
import type { FastifyInstance } from 'fastify'
import type { ResourceContents } from '../protocol/content.js'
import { McpError } from '../protocol/errors.js'
import { resource, type Resource } from '../protocol/resource.js'
import { typeByName, typed } from '../system/files/file-type.js'
import type { Folder } from '../system/files/folder.js'

const FAILED = -32603

export default async function fileResources (fastify: FastifyInstance): Promise<void> {
  if (fastify.folders.length === 0) fastify.unavailable.set('file resources', 'no folders are served: name them with --root, see docs/files.md')
  for (const folder of fastify.folders) fastify.resources.add(filesOf(folder))
}

function filesOf (folder: Folder): Resource {
  return resource({
    uri: `${folder.uri}{+path}`,
    name: basename(folder.path) || folder.path,
    scopes: ['files'],
    description: `The files below ${folder.path}, read-only`,
    complete: { path: async typed => await folder.suggest(typed) },
    list: async (after, size, { signal }) => (await folder.list(after, size, signal)).map(({ uri, path, size }) => ({ uri, name: path, ...named(uri), size })),
    watch: async (uri, changed) => await folder.watch(uri, changed).catch(cannotWatch),
    read: async (_variables, { signal }, uri) => await read(folder, uri, signal)
  })
}

async function read (folder: Folder, uri: string, signal: AbortSignal): Promise<ResourceContents[] | undefined> {
  const bytes = await folder.read(uri, signal)
  if (bytes === 'absent') return undefined
  if (bytes === 'unreadable') throw new McpError(FAILED, 'The server is not permitted to read this file', { uri })
  if (bytes === 'too large') throw new McpError(FAILED, `The file is larger than ${folder.maxFile} bytes (option maxFile)`, { uri })
  const { mimeType, text } = typed(uri, bytes)
  return [{ uri, mimeType, ...(text === undefined ? { blob: bytes.toString('base64') } : { text }) }]
}

function named (uri: string): { mimeType?: string } {
  const mimeType = typeByName(uri)
  return mimeType === undefined ? {} : { mimeType }
}

function cannotWatch (error: NodeJS.ErrnoException): never {
  if (!['ENOSPC', 'EMFILE', 'ENFILE'].includes(String(error.code))) throw error
  throw new McpError(FAILED, 'The file cannot be watched: the system watches as many files as it can already')
}
