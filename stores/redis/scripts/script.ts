import { createHash } from 'node:crypto'

/**
 * A Lua script, which Redis runs in one step. It is called by its digest, and sent whole only where Redis does not know
 * it yet.
 */
export interface Script { readonly source: string, readonly digest: string }

const scripts: Script[] = []

export function script (source: string): Script {
  const made = { source, digest: createHash('sha1').update(source).digest('hex') }
  scripts.push(made)
  return made
}

/** All scripts, to be loaded once for each connection. */
export const allScripts = (): readonly Script[] => scripts
