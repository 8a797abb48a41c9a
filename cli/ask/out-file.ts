import { accessSync, constants, writeFileSync } from 'node:fs'
import { dirname, extname, resolve } from 'node:path'

/** Throws a sentence if nothing can be written there: it is asked before a tool runs. */
export function checkOut (path: string | undefined, cwd: string): void {
  if (path === undefined) return
  try {
    accessSync(dirname(resolve(cwd, path)), constants.W_OK)
  } catch (error) {
    throw new Error(`--out ${path}: its folder does not exist, or cannot be written to`, { cause: error })
  }
}

/** Writes files: the first to the path, the others beside it with a number. Gives their names. */
export function writeOut (path: string, files: ReadonlyArray<Uint8Array | string>, cwd: string): string[] {
  return files.map((bytes, index) => {
    const end = extname(path)
    const name = index === 0 ? path : `${path.slice(0, path.length - end.length)}-${index + 1}${end}`
    try {
      writeFileSync(resolve(cwd, name), bytes)
    } catch (error) {
      throw new Error(`--out ${name} could not be written: ${(error as Error).message}`, { cause: error })
    }
    return name
  })
}
