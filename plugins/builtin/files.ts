import { resolve } from 'node:path'
import fp from 'fastify-plugin'
import { MAX_URI } from '../../protocol/definitions/uri-template.js'
import { FolderWatchers } from '../../system/files/folder-watchers.js'
import { Folder } from '../../system/files/folder.js'
import { realFolder } from '../../system/files/jail.js'

declare module '../core/mcp.js' {
  interface Mcp {
    /** The folders whose files are served, the innermost ones first. */
    folders: readonly Folder[]
  }
}

export interface FilesOptions {
  roots: string[]
  maxFile: number
  /** The data folder of the gateway, whose files are never served. */
  data?: string | undefined
}

export default fp(async (fastify, { roots, maxFile, data }: FilesOptions) => {
  const watchers = new FolderWatchers()
  const places = await distinct(roots)
  const others = new Set(places.values())
  const own = data === undefined ? undefined : await realFolder(data)
  const hidden = own === undefined ? [] : [own]
  const folders = [...places].map(
    ([real, path]) => new Folder({ real, path, others, hidden, watchers, maxFile, maxUri: MAX_URI })
  )
  // A URI belongs to the first folder that contains it, so inner folders come first: the outer one may not follow the
  // link to an inner one.
  fastify.mcp.provide('folders', folders.sort((a, b) => b.uri.length - a.uri.length))
  fastify.addHook('onClose', async () => watchers.close())
}, { name: 'patchbay-files', dependencies: ['patchbay-mcp'] })

/** The path of each folder by its real path: one that is named twice is served once. */
async function distinct (roots: string[]): Promise<Map<string, string>> {
  const places = new Map<string, string>()
  for (const root of roots) {
    const path = resolve(root)
    const real = await realFolder(path)
    if (real === undefined) throw new Error(`option roots: ${path} is not a folder that can be read`)
    if (!places.has(real)) places.set(real, path)
  }
  return places
}
