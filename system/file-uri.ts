import { join, sep } from 'node:path'
import { pathToFileURL } from 'node:url'

/** The URI of a folder, with a slash at its end. */
export function folderUri (path: string): string {
  const { href } = pathToFileURL(path)
  return href.endsWith('/') ? href : `${href}/`
}

/** The URI of what is at these names below a folder. */
export const uriBelow = (folder: string, names: string[]): string => pathToFileURL(join(folder, ...names)).href

/** The names that lead from a folder to a URI; undefined for a URI that is not below it, or not written plainly. */
export function namesBelow (base: string, uri: string): string[] | undefined {
  return uri.startsWith(base) ? namesIn(uri.slice(base.length)) : undefined
}

/** The names in a path as a URI writes it. A path that says the same in a roundabout way is refused, not simplified. */
export function namesIn (path: string): string[] | undefined {
  if (/[?#\\]/.test(path)) return undefined
  const names = path.split('/').map(decode)
  return names.every(isName) ? names : undefined
}

function isName (name: string | undefined): name is string {
  if (name === undefined || name === '' || name === '.' || name === '..') return false
  // Windows separates by a backslash, too, and has drives and streams behind a colon.
  return !(sep === '\\' ? /[/\0\\:]/ : /[/\0]/).test(name)
}

function decode (raw: string): string | undefined {
  try {
    return decodeURIComponent(raw)
  } catch {
    return undefined
  }
}
