import { flatten, resolveOptions, type FlatOptions } from '../../options.js'
import { explain, type Explanation } from '../../protocol/rules/explain.js'
import { RuleSet } from '../../protocol/rules/rule-set.js'
import { hasExpired, isIdentity, type Identity } from '../../protocol/wire/identity.js'
import { isObject } from '../../protocol/wire/json.js'
import { ApiKeys } from '../../system/credentials/api-key.js'
import { visible } from '../../lib/one-line.js'
import { didYouMean } from '../../lib/nearest-name.js'
import { takeWord } from '../settings/arguments.js'
import { readSettings, withPlaces } from '../settings/read-settings.js'
import type { Command } from './command.js'

const USAGE = 'patchbay rules explain CALLER NAME [ARGUMENTS] [--view NAME] [--json] [OPTION]...'

/** `patchbay rules`. */
export const command: Command = {
  help: `Usage: ${USAGE.replace(' [--json]', '\n                              [--json]')}

Says which of the rules in the options decides about a call, and why. CALLER is
the name of an API key, the subject of a token, anonymous, or an identity as
JSON such as {"principal":"ada","scopes":["mcp"],"claims":{"team":"release"}}.
NAME is the canonical name of a tool, prompt or resource. ARGUMENTS is JSON.
Nothing is started. Ends with 1 where the call is denied.

For example: patchbay rules explain ada git__push '{"force":true}'
`,
  run: argv => {
    const { report, isDenied } = explainCall(argv, process.env, process.cwd())
    process.stdout.write(report, () => process.exit(isDenied ? 1 : 0))
  }
}

/** The explanation of one call. Throws a sentence where the arguments or the options are wrong. */
export function explainCall (
  argv: string[],
  env: Parameters<typeof readSettings>[1],
  cwd: string
): { report: string, isDenied: boolean } {
  const { words: [action, caller, name, args], rest } = takeWords(argv.filter(word => word !== '--json'))
  if (action !== 'explain' || caller === undefined || name === undefined) {
    throw new Error(`${action === undefined || action === 'explain' ? 'a caller and a name are needed' : `there is no patchbay rules ${action}`}: ${USAGE}`)
  }
  const settings = readSettings(rest, env, cwd)
  const options = optionsOf(settings)
  const { identity, note } = callerOf(caller, options)
  const view = identity.view ?? options.view
  const given = args === undefined ? undefined : readObject(args, 'ARGUMENTS')
  const found = explain(new RuleSet(options.rules, options.rulesDefault), { identity, view }, { names: [name] }, given)
  const report = argv.includes('--json')
    ? `${JSON.stringify({ caller: identity.principal ?? null, name, view, ...found }, undefined, 2)}\n`
    : visible(describe(found, { name, caller, note, hasArguments: given !== undefined }))
  return { report, isDenied: found.effect === 'deny' }
}

/** The first four words of the command line that are no flags, and the rest. */
function takeWords (argv: string[]): { words: string[], rest: string[] } {
  const words: string[] = []
  let left = argv
  while (words.length < 4) {
    const { word, rest } = takeWord(left)
    if (word === undefined) break
    words.push(word)
    left = rest
  }
  return { words, rest: left }
}

function optionsOf (settings: ReturnType<typeof readSettings>): FlatOptions {
  try {
    return flatten(resolveOptions(settings.options))
  } catch (error) {
    throw withPlaces(error as Error, settings)
  }
}

/** The identity that a word of the command line stands for, with a sentence about what is not known of it. */
function callerOf (word: string, { apiKeys, oauth }: FlatOptions): { identity: Identity, note?: string } {
  if (word === 'anonymous') return { identity: { principal: undefined, scopes: 'all' } }
  if (word.startsWith('{')) return { identity: identityOf(readObject(word, 'CALLER')) }
  const key = apiKeys.find(({ name }) => name === word)
  if (key !== undefined) {
    const identity = new ApiKeys([key]).find(Buffer.from(key.hash.slice('sha256:'.length), 'hex'))
    if (identity === undefined) throw new Error(`the key of ${word} cannot be read`)
    return { identity, ...(hasExpired(identity) && { note: `the key of ${word} has expired, so it is refused anyway` }) }
  }
  if (oauth === undefined) {
    throw new Error(`there is no key of the name "${word}"${didYouMean(word, apiKeys.map(({ name }) => name))}; give anonymous, or an identity as JSON`)
  }
  return {
    identity: { principal: `${oauth.issuer}#${word}`, scopes: new Set(), claims: {} },
    note: `${word} is taken for the subject of a token whose scopes and claims are not known; give an identity as JSON to say them`
  }
}

function identityOf ({ scopes = [], ...rest }: Record<string, unknown>): Identity {
  const identity = { principal: undefined, ...rest, scopes: Array.isArray(scopes) ? new Set(scopes) : scopes }
  if (!isIdentity(identity)) throw new Error('CALLER must be an identity such as {"principal":"ada","scopes":["mcp"],"claims":{}}')
  return identity
}

function readObject (text: string, what: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text)
    if (isObject(value)) return value
  } catch {}
  throw new Error(`${what} must be a JSON object, not ${text}`)
}

const DONE: Record<string, string> = { allow: 'allowed', deny: 'denied', ask: 'asked about' }

function describe (
  { effect, decider, message, isShown, steps }: Explanation,
  about: { name: string, caller: string, note: string | undefined, hasArguments: boolean }
): string {
  const { name, caller, note, hasArguments } = about
  const width = Math.max(0, ...steps.map(({ rule }) => rule.length))
  return [
    ...steps.map(({ rule, effect, why }) => `${rule.padEnd(width)}  ${effect.padEnd(5)}  ${why}`),
    `${name} is ${DONE[effect] ?? effect} for ${caller} by ${decider}${isShown ? '' : ', and does not exist for this caller'}`,
    ...(message === undefined || effect !== 'deny' || !isShown ? [] : [`the caller reads: ${message}`]),
    ...(hasArguments || steps.every(({ why }) => !why.includes('argument')) ? [] : ['no arguments were given: they count as missing']),
    ...(note === undefined ? [] : [note]),
    ''
  ].join('\n')
}
