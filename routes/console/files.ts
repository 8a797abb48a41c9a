import { readFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'

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

type Encoding = 'br' | 'gzip'

/** A weight from 0 to 1. https://www.rfc-editor.org/rfc/rfc9110#section-12.4.2 */
const WEIGHT = /^q=(0(?:\.\d*)?|1(?:\.0*)?)$/

/**
 * The encoding of the reply to a request with this `Accept-Encoding`: the one with the greater weight, of two the
 * smaller; undefined if neither is accepted.
 */
export function encodingFor (accepted: string | string[] | undefined): Encoding | undefined {
  const weights = new Map(String(accepted ?? '').toLowerCase().split(',').map(readWeight))
  const [br, gzip] = (['br', 'gzip'] as const).map(name => weights.get(name) ?? weights.get('*') ?? 0) as [
    number,
    number
  ]
  if (br === 0 && gzip === 0) return undefined
  return br >= gzip ? 'br' : 'gzip'
}

/** The name in one part of the header and its weight: 1 without one, 0 for one that is malformed. */
function readWeight (part: string): [name: string, weight: number] {
  const [name = '', weight] = part.split(';').map(word => word.trim())
  return [name, weight === undefined ? 1 : Number(WEIGHT.exec(weight)?.[1] ?? 0)]
}
