import { unknownScopes } from '../../loader/unknown-names.js'
import { resolveOptions, type Options } from '../../options.js'
import { ApiKey } from '../../options/access.js'
import { compile } from '../../protocol/schema/schema.js'
import { hashOf, makeKey } from '../../system/credentials/api-key.js'
import { parseOrHint } from '../settings/parse-arguments.js'
import { readSettings } from '../settings/read-settings.js'
import type { Command } from './command.js'

/** `patchbay key`. Only the key goes to standard output, so that it can be piped to where it is kept, unseen. */
export const command: Command = {
  help: `Usage: patchbay key NAME [--scope SCOPE]... [--view NAME]

Prints a new API key on standard output, and on standard error what to put into
the config file so that it is accepted. --scope says what it is for and may be
repeated (mcp); --view binds it to one view.

For example: patchbay key ci --scope mcp --scope notes
`,
  run: args => {
    const { key, advice } = createKey(args, knownSettings())
    process.stdout.write(`${key}\n`)
    process.stderr.write(advice)
  }
}

/** The options of the environment and its config file; none if they cannot be read: a key can be made all the same. */
function knownSettings (): Partial<Options> {
  try {
    return resolveOptions(readSettings([], process.env, process.cwd()).options)
  } catch {
    return {}
  }
}

/** A key, and what to do with it. */
export interface NewKey {
  /** Shown once: the caller keeps it, we keep its hash. */
  key: string
  /** Where the operator puts its hash. */
  advice: string
}

/** Makes a key. Throws a sentence if the arguments are wrong. Scopes that `settings` mention count as known. */
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
