import { lstatSync, readdirSync, statSync, type Stats } from 'node:fs'
import { join, parse } from 'node:path'

/** The files that a pattern names, sorted, and the folders in which others of them may come to be. */
export interface Matches { files: string[], folders: string[] }

/** True for a path that has `*`, `?`, `[…]` or `{…}` in it. */
export const isGlob = (path: string): boolean => /[*?]|\[.+\]|\{.+\}/.test(path)

/**
 * Finds the files of an absolute pattern. `*` and `?` stand for characters of one name, `**` for any number of folders,
 * `[ab]` for one of these characters, `{a,b}` for one of these texts. Names that begin with a dot, and `node_modules`,
 * have to be named to be found.
 */
export function findFiles (pattern: string): Matches {
  const { root } = parse(pattern)
  const found = { files: new Set<string>(), folders: new Set<string>() }
  walk(root, pattern.slice(root.length).split(/[\\/]+/).filter(part => part !== ''), found)
  return { files: [...found.files].sort(), folders: [...found.folders].sort() }
}

function walk (
  folder: string,
  [first = '', ...rest]: string[],
  found: { files: Set<string>, folders: Set<string> }
): void {
  if (!isGlob(first) && rest.length > 0) return walk(join(folder, first), rest, found)
  if (isFolder(folder)) found.folders.add(folder)
  const matches = first === '**' ? () => false : matcher(first)
  for (const name of namesIn(folder)) {
    const path = join(folder, name)
    // As in a shell, `**` does not follow links, which may lead back to a folder above.
    if (first === '**' && isPlain(name) && isFolder(path) && !isLink(path)) walk(path, ['**', ...rest], found)
    if (!matches(name)) continue
    if (rest.length > 0) walk(path, rest, found)
    else if (statOf(path)?.isFile() === true) found.files.add(path)
  }
  // `**` may stand for no folder at all, and at the end of a pattern for every file.
  if (first === '**') walk(folder, rest.length === 0 ? ['*'] : rest, found)
}

const isPlain = (name: string): boolean => !name.startsWith('.') && name !== 'node_modules'

function matcher (part: string): (name: string) => boolean {
  const source = part.replace(/\*+|\?|\[[^\]]+\]|[{},]|[.+^$()|\\]/g, token => {
    if (token.startsWith('*')) return '[^/]*'
    if (token.startsWith('[')) return token.replace(/^\[!/, '[^')
    return { '?': '[^/]', '{': '(?:', '}': ')', ',': part.includes('{') ? '|' : ',' }[token] ?? `\\${token}`
  })
  const pattern = new RegExp(`^${source}$`)
  return name => pattern.test(name) && (isPlain(name) || part.startsWith('.') || part === name)
}

function namesIn (folder: string): string[] {
  try {
    return readdirSync(folder)
  } catch {
    return []
  }
}

function isFolder (path: string): boolean {
  return statOf(path)?.isDirectory() === true
}

const isLink = (path: string): boolean => lstatSync(path).isSymbolicLink()

/**
 * Stats of what a path leads to; undefined if that cannot be found out: nothing is there, a link leads in a circle, a
 * folder above is not readable.
 */
export function statOf (path: string): Stats | undefined {
  try {
    return statSync(path)
  } catch {
    return undefined
  }
}
