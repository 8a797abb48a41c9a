import { Type, type Static } from '@sinclair/typebox'
import { metadataUrl } from './protocol/http/protected-resource.js'
import { compile } from './protocol/schema/schema.js'
import { DEFAULT_SCOPES } from './protocol/wire/identity.js'
import { isSafe } from './system/credentials/fetch-json.js'
import { isNetwork } from './lib/network/network-notation.js'
import { access } from './options/access.js'
import { content } from './options/content.js'
import { data } from './options/data.js'
import { calls, connections, messages, sessions } from './options/limits.js'
import { rates } from './options/rates.js'
import { serve } from './options/serve.js'

/** The groups of options, by the headings of docs/configure.md. */
export const GROUPS = {
  Serve: serve,
  'Plugins and built-in tools': content,
  Data: data,
  Access: access,
  Rates: rates,
  'Limits of messages': messages,
  'Limits of calls': calls,
  'Limits of connections': connections,
  'Limits of sessions': sessions
}

/** All options of the config file and the environment; some can also be set on the command line. */
export const Options = Type.Object({ ...serve, ...content, ...data, ...access, ...rates, ...messages, ...calls, ...connections, ...sessions }, { additionalProperties: false })

export type Options = Static<typeof Options>

const check = compile(Options)

/** Checks the options and adds defaults. Throws one sentence that names the option and what was expected. */
export function resolveOptions (given: Partial<Options>): Options {
  const complete = { ...defaults(), ...Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined)) }
  const wrong = check(complete)
  if (wrong !== undefined) throw new Error(`option ${describeMistake(wrong)}`)
  const options = complete as Options
  const odd = options.plugins.findIndex(plugin => typeof plugin !== 'string' && typeof plugin !== 'function')
  if (odd !== -1) throw new Error(`option plugins.${odd} must be a file name or a Fastify plugin`)
  if (options.oauth !== undefined) checkUrls(options.oauth)
  checkProxies(options.trustProxy)
  return options
}

function checkProxies (trusted: Options['trustProxy']): void {
  for (const [index, place] of Array.isArray(trusted) ? trusted.entries() : []) {
    if (!isNetwork(place)) throw new Error(`option trustProxy.${index} must be an address, or a network such as 10.0.0.0/8, not "${place}"`)
  }
}

function checkUrls ({ issuer, resource, jwks = issuer }: NonNullable<Options['oauth']>): void {
  for (const [name, value] of Object.entries({ issuer, resource, jwks })) {
    if (/^https?:\/\/[^/]*@/.test(value)) throw new Error(`option oauth.${name} must be an https URL without a user and a password`)
    if (!URL.canParse(value) || !isSafe(new URL(value))) throw new Error(`option oauth.${name} must be an https URL (http is for this very machine), not "${value}"`)
  }
  if (/[?#]/.test(issuer)) throw new Error(`option oauth.issuer must be a URL without ? and #, not "${issuer}"`)
}

function describeMistake (wrong: string): string {
  const name = wrong.split(/[ .;]/)[0] as keyof typeof Options.properties
  const expected: unknown = Options.properties[name]?.['x-expected']
  if (typeof expected === 'string') return `${name} ${expected}`
  return wrong.replace(/^it must NOT have additional properties: "(.*)"$/, '"$1" does not exist')
}

function defaults (): Record<string, unknown> {
  const entries = Object.entries(Options.properties).filter(([, schema]) => 'default' in schema)
  return Object.fromEntries(entries.map(([name, schema]) => [name, structuredClone(schema.default)]))
}

/** The options of authentication, with the challenge for requests without a valid credential. */
export function authentication ({ prefix }: { prefix: string }, { name, apiKeys, oauth, ticketLifetime, allowAnonymous, maxWrongCredentials }: Options) {
  const metadata = oauth === undefined ? undefined : metadataUrl(oauth.resource, prefix)
  return { apiKeys, oauth, ticketLifetime, allowAnonymous, maxWrongCredentials, scopes: oauth?.scopes ?? DEFAULT_SCOPES, challenger: { realm: name, metadata } }
}
