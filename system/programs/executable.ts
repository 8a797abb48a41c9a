import { accessSync, constants, statSync } from 'node:fs'
import { delimiter, isAbsolute, join } from 'node:path'

/** True for a file that this process may execute. */
export function isExecutable (path: string): boolean {
  return canAccess(path, constants.X_OK) && statSync(path).isFile()
}

/** True for a folder in which this process may start a program. */
export function isFolder (path: string): boolean {
  return canAccess(path, constants.X_OK) && statSync(path).isDirectory()
}

/** The first executable of that name on the PATH. Relative folders of the PATH are ignored. */
export function lookUp (name: string, path = process.env['PATH'] ?? ''): string | undefined {
  return path.split(delimiter).filter(isAbsolute).map(folder => join(folder, name)).find(isExecutable)
}

function canAccess (path: string, mode: number): boolean {
  try {
    accessSync(path, mode)
    return true
  } catch {
    return false
  }
}
