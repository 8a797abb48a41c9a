import { existsSync, readdirSync, statSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { checkoutFolders, checkoutSource } from '../loader/checkout.js'
import { entry } from '../version.js'

/**
 * A sentence if the command is the bundle of a checkout and a tool, resource or prompt was added, changed or deleted
 * since it was made. `served` are the files of the definitions that are served.
 */
export function staleBuildWarning (served: string[], url = entry): string | undefined {
  const folders = url.includes('/dist/') ? checkoutFolders(url) : []
  if (folders.length === 0) return undefined
  const deleted = served
    .map(file => checkoutSource(file, url))
    .find(source => source !== undefined && !existsSync(source))
  if (deleted !== undefined) {
    return `dist/ has ${basename(dirname(deleted))}/${basename(deleted, '.ts')}, whose source was deleted: npm run build (npm start does that)`
  }
  const builtAt = statSync(new URL(url), { throwIfNoEntry: false })?.mtimeMs ?? Infinity
  const newer = folders.flatMap(sourcesIn).find(file => statSync(file).mtimeMs > builtAt)
  return newer === undefined
    ? undefined
    : `${newer} is newer than dist/, which is what runs: npm run build (npm start does that)`
}

const sourcesIn = (folder: string): string[] =>
  readdirSync(folder)
    .filter(name => name.endsWith('.ts'))
    .map(name => join(folder, name))
