import { readFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import type { Encoding } from './accepted-encoding.js'

/** A file of the console as the build lists it, and where it is. */
export interface ConsoleFile {
  name: string
  /** The name on disk, where that is another. */
  file?: string
  /** The media type. */
  type: string
  /** Of its bytes. */
  hash: string
  url: URL
}

/** Beside the bundle, and beside the folder of what the compiler made. */
const FOLDERS = [new URL('./console/', import.meta.url), new URL('../../../dist/console/', import.meta.url)]
const SUFFIX: Record<Encoding, string> = { br: '.br', gzip: '.gz' }

/** The files that the build made; undefined if it made none. */
export function listFiles (folders = FOLDERS): ConsoleFile[] | undefined {
  for (const folder of folders) {
    const list = readList(folder)
    if (list !== undefined) return list.map(file => ({ ...file, url: new URL(file.file ?? file.name, folder) }))
  }
  return undefined
}

function readList (folder: URL): Array<Omit<ConsoleFile, 'url'>> | undefined {
  try {
    return JSON.parse(readFileSync(new URL('files.json', folder), 'utf8')) as Array<Omit<ConsoleFile, 'url'>>
  } catch {
    return undefined
  }
}

const kept = new Map<string, Promise<Buffer>>()

/** The bytes of a file, compressed or not; read once. */
export async function readBytes ({ url }: ConsoleFile, encoding: Encoding | undefined): Promise<Buffer> {
  const path = url.href + (encoding === undefined ? '' : SUFFIX[encoding])
  const reading = kept.get(path) ?? readFile(new URL(path))
  kept.set(path, reading)
  try {
    return await reading
  } catch (error) {
    kept.delete(path)
    throw error
  }
}
