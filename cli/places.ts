import { basename, dirname, isAbsolute, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { entry } from '../version.js'

/**
 * The path of a page of the documentation as it can be opened: relative only where the package itself is the working
 * directory.
 */
export function docsPage (name: string, cwd = process.cwd(), base = entry): string {
  const path = fileURLToPath(new URL(`../docs/${name}`, base))
  return relative(cwd, path) === `docs/${name}` ? `docs/${name}` : path
}

/** A word of a command line as a shell takes it. */
export const quoted = (word: string, platform = process.platform): string => {
  if (/^[\w@%+=:,./\\-]+$/.test(word) && (platform === 'win32' || !word.includes('\\'))) return word
  return platform === 'win32' ? `"${word.replaceAll('"', '""')}"` : `'${word.replaceAll("'", "'\\''")}'`
}

/** How to type the command that runs: `patchbay` where it is installed, and its script otherwise. */
export function typedCommand (script = process.argv[1] ?? '', cwd = process.cwd()): string {
  if (basename(script) === 'patchbay') return 'patchbay'
  const path = relative(cwd, script)
  const shown = path.startsWith('..') || isAbsolute(path) ? script : path
  return `node ${quoted(shown)}`
}

/** The file beside the config file that was read, which has what is accepted of servers; undefined where none was. */
export const lockFileOf = ({ file, isRead }: { file: string | undefined, isRead: boolean }): string | undefined =>
  file === undefined || !isRead ? undefined : join(dirname(file), 'patchbay.lock')
