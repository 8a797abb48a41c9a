import { sep } from 'node:path'
import { pathToFileURL } from 'node:url'
import { tryDecode } from '../../lib/network.js'

/** The URI of a folder, with a slash at its end. */
export const folderUri = (path: string): string => pathToFileURL(path.endsWith(sep) ? path : path + sep).href

/** The URI of a path, given by its names, below the URI of a folder. */
export const uriBelow = (base: string, names: string[]): string => base + names.map(encodeName).join('/')

/** The names of the path from a folder to a URI; undefined for a URI that is not below it or not canonical. */
export function namesBelow (base: string, uri: string): string[] | undefined {
  return uri.startsWith(base) ? namesIn(uri.slice(base.length)) : undefined
}

/**
 * The names of a percent-encoded path. A path that is not canonical, such as one with `..`, is refused and not
 * normalised.
 */
export function namesIn (path: string): string[] | undefined {
  if (/[?#\\]/.test(path)) return undefined
  const names = path.split('/').map(tryDecode)
  return names.every(isName) ? names : undefined
}

// Not by the URL parser, which removes spaces and control characters at the end of a name.
const encodeName = (name: string): string => encodeURI(name).replace(/[?#]/g, encodeURIComponent)

function isName (name: string | undefined): name is string {
  if (name === undefined || name === '' || name === '.' || name === '..') return false
  // On Windows a backslash separates names too, and a colon begins a drive or a stream.
  return !(sep === '\\' ? /[/\0\\:]/ : /[/\0]/).test(name)
}
