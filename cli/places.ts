import { basename, isAbsolute, relative } from 'node:path'
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

/** How to type the command that runs: `patchbay` where it is installed, and its script otherwise. */
export function typedCommand (script = process.argv[1] ?? '', cwd = process.cwd()): string {
  if (basename(script) === 'patchbay') return 'patchbay'
  const path = relative(cwd, script)
  const shown = path.startsWith('..') || isAbsolute(path) ? script : path
  return `node ${shown.includes(' ') ? `"${shown}"` : shown}`
}
