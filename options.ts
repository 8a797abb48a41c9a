import { Type, type Static, type TObject } from '@sinclair/typebox'
import { challenge, metadataUrl } from './protocol/http/protected-resource.js'
import { compile } from './protocol/schema/schema.js'
import { DEFAULT_SCOPES } from './protocol/wire/identity.js'
import { mistakesInRules } from './protocol/rules/mistakes-in-rules.js'
import { isObject } from './protocol/wire/json.js'
import { isSafe } from './system/credentials/fetch-json.js'
import { expectedOfRedisUrl } from './system/redis/url.js'
import { isNetwork } from './lib/network.js'
import { access } from './options/access.js'
import { content } from './options/content.js'
import { curation, wrongViews } from './options/curation.js'
import { data } from './options/data.js'
import { bounds, limits, Limits } from './options/limits.js'
import { mistakesIn, OptionsError, type Mistake } from './options/mistakes.js'
import { rates } from './options/rates.js'
import { serve } from './options/serve.js'
import { upstreams } from './options/upstreams.js'

/** The groups of options, by the headings of docs/configure.md. */
export const GROUPS = {
  Serve: serve,
  'Plugins and built-in tools': content,
  'Upstream servers': upstreams,
  Views: curation,
  Data: data,
  Access: access,
  Rates: rates,
  Bounds: { ...bounds, ...limits }
}

/** All options of the config file and the environment; some can also be set on the command line. */
export const Options = Type.Object(
  { ...serve, ...content, ...upstreams, ...curation, ...data, ...access, ...rates, ...bounds, ...limits },
  { additionalProperties: false }
)

export type Options = Static<typeof Options>

/** All options, and all limits beside them: what the parts of the gateway are given. */
export type FlatOptions = Omit<Options, 'limits'> & Limits

const check = compile(Options)

/**
 * Checks the options and adds defaults, but not those of the limits. Throws an OptionsError that names each wrong
 * option and what was expected.
 */
export function resolveOptions (given: Partial<Options>): Options {
  const values = dropUndefined({ ...given, ...(isObject(given.limits) ? { limits: dropUndefined(given.limits) } : {}) })
  const complete = { ...defaultsOf(Options), ...values }
  // A server with a mistake is left out when the servers are read, and the others are served.
  const withoutServers = isObject(values['mcpServers']) ? { mcpServers: {} } : {}
  const wrong =
    check({ ...complete, ...withoutServers }) === undefined ? [] : wrongValues({ ...values, ...withoutServers })
  const mistakes = [
    ...wrong,
    ...deeperMistakes(complete as Options, new Set(wrong.map(({ path }) => path.split('.')[0])))
  ]
  if (mistakes.length > 0) throw new OptionsError(mistakes)
  return complete as Options
}

const dropUndefined = (values: object): Record<string, unknown> =>
  Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined))

/**
 * The mistakes in the options, and in each of the limits. A limit that is not among these is named with where it
 * belongs.
 */
function wrongValues ({ limits = {}, ...values }: Record<string, unknown>): Mistake[] {
  const misplaced = Object.keys(values).filter(name => Object.hasOwn(Limits.properties, name))
  return [
    ...misplaced.map(name => ({
      path: name,
      text: `option "${name}" is a limit: put it into limits, as in {"limits":{"${name}":…}}`
    })),
    ...mistakesIn(Options, {
      ...Object.fromEntries(Object.entries(values).filter(([name]) => !misplaced.includes(name))),
      ...(isObject(limits) ? {} : { limits })
    }),
    ...mistakesIn(Limits, isObject(limits) ? limits : {}, 'limit').map(({ path, text }) => ({
      path: `limits.${path}`,
      text
    }))
  ]
}

/** Puts the limits, with their defaults, beside the other options. */
export function flatten ({ limits, ...options }: Options): FlatOptions {
  return { ...options, ...defaultsOf(Limits) as Limits, ...limits }
}

/** Finds mistakes that the schema cannot express, in options that are not in `wrong`. */
function deeperMistakes (
  { plugins, oauth, trustProxy, redis, views, rules, approvalWebhook }: Options,
  wrong: Set<string | undefined>
): Mistake[] {
  return [
    ...(wrong.has('plugins') ? [] : wrongPlugins(plugins)),
    ...(wrong.has('oauth') || oauth === undefined ? [] : wrongUrls(oauth)),
    ...(wrong.has('approvalWebhook') || approvalWebhook === undefined
      ? []
      : wrongUrl('approvalWebhook.url', approvalWebhook.url)),
    ...(wrong.has('trustProxy') || !Array.isArray(trustProxy) ? [] : wrongProxies(trustProxy)),
    ...(wrong.has('views') ? [] : wrongViews(views)),
    ...(wrong.has('rules') ? [] : mistakesInRules(rules)),
    ...(wrong.has('redis') || redis === undefined ? [] : wrongRedis(redis))
  ]
}

function wrongPlugins (plugins: Options['plugins']): Mistake[] {
  const odd = plugins.findIndex(plugin => typeof plugin !== 'string' && typeof plugin !== 'function')
  return odd === -1 ? [] : [mistake(`plugins.${odd}`, 'must be a file name or a Fastify plugin')]
}

function wrongProxies (trusted: string[]): Mistake[] {
  return [...trusted.entries()]
    .filter(([, place]) => !isNetwork(place))
    .map(([index, place]) =>
      mistake(`trustProxy.${index}`, `must be an address, or a network such as 10.0.0.0/8, not "${place}"`)
    )
}

function wrongRedis (url: string): Mistake[] {
  const expected = expectedOfRedisUrl(url)
  return expected === undefined ? [] : [mistake('redis', expected)]
}

function wrongUrls ({ issuer, resource, jwks = issuer }: NonNullable<Options['oauth']>): Mistake[] {
  const wrong = Object.entries({ issuer, resource, jwks }).flatMap(([name, value]) => wrongUrl(`oauth.${name}`, value))
  return wrong.length === 0 && /[?#]/.test(issuer)
    ? [mistake('oauth.issuer', `must be a URL without ? and #, not "${issuer}"`)]
    : wrong.slice(0, 1)
}

function wrongUrl (path: string, value: string): Mistake[] {
  if (/^https?:\/\/[^/]*@/.test(value)) return [mistake(path, 'must be an https URL without a user and a password')]
  return URL.canParse(value) && isSafe(new URL(value))
    ? []
    : [mistake(path, `must be an https URL (http is for this very machine), not "${value}"`)]
}

const mistake = (path: string, expected: string): Mistake => ({ path, text: `option ${path} ${expected}` })

function defaultsOf ({ properties }: TObject): Record<string, unknown> {
  const entries = Object.entries(properties).filter(([, schema]) => 'default' in schema)
  return Object.fromEntries(entries.map(([name, schema]) => [name, structuredClone(schema.default)]))
}

/** The options of authentication, with the challenge for requests without a valid credential. */
export function authentication (
  { prefix }: { prefix: string },
  { name, apiKeys, oauth, ticketLifetime, allowAnonymous, maxWrongCredentials }: FlatOptions
) {
  const metadata = oauth === undefined ? undefined : metadataUrl(oauth.resource, prefix)
  return {
    apiKeys,
    oauth,
    ticketLifetime,
    allowAnonymous,
    maxWrongCredentials,
    scopes: oauth?.scopes ?? DEFAULT_SCOPES,
    challenger: { realm: name, metadata }
  }
}

/** The `WWW-Authenticate` header that names the scopes which a caller lacks. */
export function scopeChallenge (
  application: { prefix: string },
  options: FlatOptions,
  scopes: readonly string[]
): string {
  return challenge(authentication(application, options).challenger, {
    error: 'insufficient_scope',
    description: 'this needs more than was granted',
    scopes
  })
}
