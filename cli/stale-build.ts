import { readdirSync, statSync } from 'node:fs'
import { entry } from '../version.js'

/** The folders of a checkout in which authors add files. */
const FOLDERS = ['../tools/', '../resources/', '../prompts/']

/** A sentence if the command is the bundle of a checkout whose tools, resources or prompts were changed since it was made. */
export function staleBuildWarning (url = entry): string | undefined {
  if (!url.includes('/dist/')) return undefined
  const builtAt = statSync(new URL(url), { throwIfNoEntry: false })?.mtimeMs ?? Infinity
  const newer = FOLDERS.flatMap(name => sourcesIn(new URL(name, url))).find(file => statSync(file).mtimeMs > builtAt)
  return newer === undefined ? undefined : `${newer.pathname} is newer than dist/, which is what runs: npm run build (npm start does that)`
}

function sourcesIn (folder: URL): URL[] {
  try {
    return readdirSync(folder).filter(name => name.endsWith('.ts')).map(name => new URL(name, folder))
  } catch {
    return []
  }
}
