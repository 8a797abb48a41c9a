import { existsSync, readdirSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import { didYouMean } from '../lib/nearest-name.js'
import { findFiles, isGlob, statOf } from './glob.js'
import { isInstalled, isPackageName, packageEntry } from './package-entry.js'

/** The names that a file of an author may end with. */
export const PLUGIN_FILE = /\.(?:[mc]?js|m?ts)$/

const LEFT_OUT = /^[_.]|\.d\.m?ts$|\.test\.[mc]?[jt]s$/

/** The files that an entry of option `plugins` names, and the folders in which more of them may come to be. */
export interface Place { files: string[], folders: string[] }

/**
 * The absolute path or glob of an entry of option `plugins`, relative to a folder. A package is found by its name, if
 * no path has that name. Throws a sentence for a name that is neither.
 */
export function locatePlugin (entry: string, folder: string): string {
  const path = resolve(folder, entry)
  if (!isPackageName(entry) || isGlob(entry) || existsSync(path)) return path
  const file = packageEntry(entry, folder)
  if (file === undefined && !PLUGIN_FILE.test(entry)) {
    const wrong = isInstalled(entry, folder)
      ? `the package of that name does not export "${entry}"; name a path that its package.json exports`
      : `${folder} has no package "${entry}"; install it there, or correct the name`
    throw new Error(`plugin ${entry}: there is no file or folder ${path}${near(path)}, and ${wrong}`)
  }
  return file ?? path
}

/** The files of an absolute path or glob. Throws a sentence that names what was looked for if there are none. */
export function filesAt (place: string): Place {
  const found = lookAt(place)
  if (found.files.length > 0) return found
  const what = 'no .ts, .mts, .js, .mjs or .cjs file'
  throw new Error(
    `plugin ${place}: ${isGlob(place) ? `${what} matches` : `there is ${what} in this folder`}; those that are tests (.test.ts) or begin with _ or . do not count`
  )
}

/** Finds the files of a place, without an error when a folder or glob has none. */
export function lookAt (place: string): Place {
  const stats = statOf(place)
  if (stats?.isDirectory() === true) {
    return {
      files: namesIn(place)
        .filter(isPlugin)
        .sort()
        .map(name => join(place, name))
        .filter(isFile),
      folders: [place]
    }
  }
  if (stats !== undefined || !isGlob(place)) return { files: [place], folders: [] }
  const { files, folders } = findFiles(place)
  return { files: files.filter(file => isPlugin(basename(file))), folders }
}

/** Throws a sentence for a path that is no file an author can have written for us. */
export function checkFile (path: string): void {
  if (!existsSync(path)) throw new Error(`plugin ${path}: there is no such file${near(path)}`)
  if (/\.[jt]sx$/.test(path)) {
    throw new Error(`plugin ${path}: JSX cannot be loaded; write it without JSX, as a .ts or .js file`)
  }
  if (!PLUGIN_FILE.test(path)) throw new Error(`plugin ${path}: it must be a .ts, .mts, .js, .mjs or .cjs file`)
}

/** True for the names of files that are loaded from a folder or for a glob. */
export const isPlugin = (name: string): boolean => PLUGIN_FILE.test(name) && !LEFT_OUT.test(name)

const isFile = (path: string): boolean => statOf(path)?.isFile() === true

function namesIn (folder: string): string[] {
  try {
    return readdirSync(folder)
  } catch (error) {
    throw new Error(`plugin ${folder}: the folder cannot be read (${(error as NodeJS.ErrnoException).code})`, {
      cause: error
    })
  }
}

/** "; did you mean …?" for a path with a slip in its last name. */
export function near (path: string): string {
  const folder = dirname(path)
  return existsSync(folder) ? didYouMean(basename(path), readdirSync(folder)) : ''
}
