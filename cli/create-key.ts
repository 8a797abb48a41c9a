import { unknownScopes } from '../loader/unknown-names.js'
import { ApiKey } from '../options/access.js'
import { compile } from '../protocol/schema/schema.js'
import { hashOf, makeKey } from '../system/credentials/api-key.js'
import { parseOrHint } from './settings/parse-arguments.js'

export interface NewKey {
  /** Shown once: the caller keeps it, we keep its hash. */
  key: string
  /** Where the operator puts its hash. */
  advice: string
}

/**
 * Runs `patchbay key NAME [--scope S]... [--view V]`. Throws a sentence if the arguments are wrong. Scopes that
 * `settings` mention count as known.
 */
export function createKey (args: string[], settings: Parameters<typeof unknownScopes>[1] = {}): NewKey {
  const {
    positionals: [name, ...more],
    values: { scope: scopes = ['mcp'], view }
  } = parseOrHint({
    args,
    options: { scope: { type: 'string', multiple: true }, view: { type: 'string' } },
    allowPositionals: true
  })
  if (name === undefined || more.length > 0) {
    throw new Error('a key is for one caller: patchbay key NAME [--scope SCOPE]... [--view NAME]')
  }
  const key = makeKey()
  const entry = { name, hash: hashOf(key), scopes, ...view !== undefined && { view } }
  const wrong = compile(ApiKey)(entry)
  if (wrong?.startsWith('name') === true) {
    throw new Error(`the name of a key is made of letters, digits and . _ @ -, not "${name}"`)
  }
  if (wrong !== undefined) {
    throw new Error(`a scope has neither spaces nor quotes, unlike one of "${scopes.join('", "')}"`)
  }
  return {
    key,
    advice:
      unknownScopes(scopes, settings)
        .map(sentence => `patchbay: ${sentence}\n`)
        .join('') + adviceFor(entry)
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
