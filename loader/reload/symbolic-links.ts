import { lstatSync, readlinkSync, realpathSync } from 'node:fs'
import { dirname, resolve } from 'node:path'

/** The path without symbolic links, or the path itself if it leads nowhere. */
export function realPath (file: string): string {
  try {
    return realpathSync(file)
  } catch {
    return file
  }
}

/** The symbolic links on the way to these paths, each of which may lead elsewhere later. */
export function linksTo (paths: Iterable<string>): string[] {
  const links = new Set<string>()
  const seen = new Set<string>()
  for (const path of paths) follow(path, links, seen)
  return [...links]
}

function follow (path: string, links: Set<string>, seen: Set<string>): void {
  if (seen.has(path)) return
  seen.add(path)
  if (dirname(path) !== path) follow(dirname(path), links, seen)
  const target = targetOf(path)
  if (target === undefined) return
  links.add(path)
  follow(target, links, seen)
}

function targetOf (path: string): string | undefined {
  try {
    if (lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() !== true) return undefined
    return resolve(realPath(dirname(path)), readlinkSync(path))
  } catch {
    return undefined
  }
}
