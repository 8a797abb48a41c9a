import { parseArgs } from 'node:util'
import { unknownScopes } from '../loader/unknown-names.js'
import { ApiKey } from '../options.js'
import { compile } from '../protocol/schema/schema.js'
import { hashOf, makeKey } from '../system/credentials/api-key.js'

export interface NewKey {
  /** To be shown once and kept by whoever will use it. */
  key: string
  /** What the operator does with its hash. */
  advice: string
}

/** `patchbay key NAME [--scope S]...`. Throws a sentence when that is not what was said. `settings` may ask for scopes of their own. */
export function newKey (args: string[], settings: Parameters<typeof unknownScopes>[1] = {}): NewKey {
  const { positionals: [name, ...more], values: { scope: scopes = ['mcp'] } } = parse(args)
  if (name === undefined || more.length > 0) throw new Error('a key is for one caller: patchbay key NAME [--scope SCOPE]...')
  const key = makeKey()
  const entry = { name, hash: hashOf(key), scopes }
  const wrong = compile(ApiKey)(entry)
  if (wrong !== undefined) throw new Error(wrong.startsWith('name') ? `the name of a key is made of letters, digits and . _ @ -, not "${name}"` : `a scope has neither spaces nor quotes, unlike one of "${scopes.join('", "')}"`)
  return { key, advice: unknownScopes(scopes, settings).map(sentence => `patchbay: ${sentence}\n`).join('') + adviceFor(entry) }
}

function parse (args: string[]) {
  try {
    return parseArgs({ args, options: { scope: { type: 'string', multiple: true } }, allowPositionals: true })
  } catch (error) {
    throw new Error(`${(error as Error).message.split('\n')[0]?.replace(/\.$/, '')}; see patchbay --help`, { cause: error })
  }
}

function adviceFor (entry: { name: string }): string {
  return `
This is the key of ${entry.name}. It is not shown again, and only its hash goes into the config file:

${JSON.stringify({ apiKeys: [entry] }, null, 2)}

or into the environment:

PATCHBAY_API_KEYS='${JSON.stringify([entry])}'

`
}
