import { createHash } from 'node:crypto'

/** A Lua script, which Redis runs in one step. It is called by its digest, and sent whole only where Redis does not know it yet. */
export interface Script { readonly source: string, readonly digest: string }

export function script (source: string): Script {
  return { source, digest: createHash('sha1').update(source).digest('hex') }
}
