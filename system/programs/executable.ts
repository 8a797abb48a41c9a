import { accessSync, constants, statSync } from 'node:fs'
import { delimiter, isAbsolute, join } from 'node:path'

/** True for a file that this process may execute. */
export function isExecutable (path: string): boolean {
  return canBe(path, constants.X_OK) && statSync(path).isFile()
}

/** True for a folder in which a program of this process can start. */
export function isFolder (path: string): boolean {
  return canBe(path, constants.X_OK) && statSync(path).isDirectory()
}

/** The first executable of that name on the PATH; folders that depend on where this process was started do not count. */
export function lookUp (name: string, path = process.env['PATH'] ?? ''): string | undefined {
  return path.split(delimiter).filter(isAbsolute).map(folder => join(folder, name)).find(isExecutable)
}

function canBe (path: string, mode: number): boolean {
  try {
    accessSync(path, mode)
    return true
  } catch {
    return false
  }
}
