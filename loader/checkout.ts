import { existsSync } from 'node:fs'
import { relative, sep } from 'node:path'
import { fileURLToPath } from 'node:url'
import { entry } from '../version.js'

const FOLDERS = ['tools', 'resources', 'prompts']

/** The folders of a checkout whose files are built in. An installed package does not have them. */
export function checkoutFolders (base = entry): string[] {
  return FOLDERS.map(name => fileURLToPath(new URL(`../${name}`, base))).filter(existsSync)
}

/** The folder of a checkout whose skills are built in, if it has one. */
export function checkoutSkills (base = entry): string[] {
  return [fileURLToPath(new URL('../skills', base))].filter(existsSync)
}

/**
 * The source that a built-in file of a checkout was made of, even if it was deleted since; undefined for every other
 * file.
 */
export function checkoutSource (file: string, base = entry): string | undefined {
  const path = relative(fileURLToPath(new URL('.', base)), file)
  if (!FOLDERS.includes(path.split(sep)[0] ?? '') || checkoutFolders(base).length === 0) return undefined
  return fileURLToPath(new URL(`../${path.replaceAll(sep, '/').replace(/js$/, 'ts')}`, base))
}
