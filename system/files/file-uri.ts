import { sep } from 'node:path'
import { pathToFileURL } from 'node:url'

/** The URI of a folder, with a slash at its end. */
export const folderUri = (path: string): string => pathToFileURL(path.endsWith(sep) ? path : path + sep).href

/** The URI of what is at these names below the URI of a folder. */
export const uriBelow = (base: string, names: string[]): string => base + names.map(written).join('/')

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

// A URL that is parsed loses the spaces and control characters at its end, which are part of a name.
const written = (name: string): string => encodeURI(name).replace(/[?#]/g, encodeURIComponent)

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
