import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { entry } from '../../version.js'

/** The folders of a checkout whose files are built in. An installed package does not have them. */
export function checkoutFolders (): string[] {
  return ['../tools', '../resources', '../prompts'].map(name => fileURLToPath(new URL(name, entry))).filter(existsSync)
}
