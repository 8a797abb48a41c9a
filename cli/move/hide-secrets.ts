import { existsSync } from 'node:fs'
import { isObject } from '../../protocol/wire/json.js'
import { mapTexts } from '../../system/variables.js'
import { SECRET_NAME } from '../../upstreams/secrets.js'
import type { Entry } from './convert-server.js'

/** A value that looks like a secret, and the variable that stands for it. */
export interface Secret { readonly variable: string, readonly value: string }

/** Other names of variables and headers whose values are secrets. */
const MORE_NAMES = /(^|[_-])(key|pat|dsn|cookie|session|jwt|bearer|pw|pass|passphrase|pin)($|[_-])/i
/** How tokens of well-known services begin. Names of packages begin like some of them, such as `sketch-mcp`. */
const KNOWN_TOKEN = new RegExp(
  '^(?:(?:sk|pk|rk|fc|tvly|glpat|pypi|xox[abpres]|xapp)[-_]|' +
  '(?:gh[opsu]|github_pat|lin_api|ntn|npm|hf|r8|figd|sbp|dop_v1|shpat)_|AKIA|AIza|ya29\\.|eyJ)(?=.*\\d)[-_.A-Za-z0-9]{8,}'
)
/** A long text of letters and digits that is no path or URL. */
const LONG = /^[A-Za-z0-9_+=.~-]{24,}$/
/** A part of one that is no word, number or date. */
const RANDOM = /^(?=.*\d)(?=.*[A-Za-z])[A-Za-z0-9]{12,}$/
const SCHEME = /^((?:Bearer|Basic|Token|Digest|ApiKey)\s+)(.+)$/is

/**
 * Puts variables in the place of the values of an entry that look like secrets: of its environment, headers, arguments,
 * URL and client. Of two values for one variable, the second gets another.
 */
export class SecretHider {
  readonly #values = new Map<string, string>()
  readonly #write: (variable: string) => string
  readonly #isTaken: (variable: string, value: string) => boolean

  /** `write` gives what stands in the place of a value; `isTaken` is true for a variable that has another value. */
  constructor (
    write: (variable: string) => string,
    isTaken: (variable: string, value: string) => boolean = () => false
  ) {
    this.#write = write
    this.#isTaken = isTaken
  }

  /** The secrets that were found so far. */
  get secrets (): Secret[] {
    return [...this.#values].map(([variable, value]) => ({ variable, value }))
  }

  /** The entry of the server `name` without its secrets. */
  hide (name: string, entry: Entry): Entry {
    const { env, headers, args, url, openapi, oauth, credentials } = entry
    return {
      ...entry,
      ...isObject(env) && { env: mapValues(env, (key, value) => this.#variable(name, key, value)) },
      ...Array.isArray(args) && {
        args: args.map((arg, index) => this.#argument(name, String(arg), String(args[index - 1] ?? '')))
      },
      ...typeof url === 'string' && { url: this.#url(name, url) },
      ...typeof openapi === 'string' && { openapi: this.#url(name, openapi) },
      ...isObject(headers) && { headers: mapValues(headers, (key, value) => this.#header(name, key, value)) },
      ...isObject(oauth) && { oauth: mapValues(oauth, (key, value) => this.#signIn(name, key, value)) },
      ...isObject(credentials) && {
        credentials: mapValues(credentials, (key, value) => this.#signIn(name, key, value))
      }
    }
  }

  #variable (server: string, key: string, value: string): string {
    return isSecret(key, value) ? this.#replace(server, key, value) : this.#url(server, value)
  }

  #header (server: string, header: string, value: string): string {
    const [, scheme = '', token = value] = SCHEME.exec(value) ?? []
    if (scheme === '' && !isSecret(header, value)) return value
    if (isVariable(token)) return value
    const name = header.toLowerCase() === 'authorization' ? 'TOKEN' : header
    return `${scheme}${this.#replace(server, `${server}_${name}`, token)}`
  }

  #signIn (server: string, key: string, value: string): string {
    if (key !== 'clientSecret') return this.#url(server, value)
    return isVariable(value) ? value : this.#replace(server, `${server}_CLIENT_SECRET`, value)
  }

  #argument (server: string, argument: string, before: string): string {
    const header = /^([\w-]+):\s*(.*)$/s.exec(argument)
    if (header !== null && /^(--header|-H)$/.test(before)) {
      return `${header[1]}: ${this.#header(server, header[1] ?? '', header[2] ?? '')}`
    }
    const [, flag = '', name = '', value] = /^(--?)?([\w.-]+)=(.*)$/s.exec(argument) ?? []
    if (value !== undefined) {
      if (!isSecret(name, value)) return `${flag}${name}=${this.#url(server, value)}`
      const variable = flag === '' ? name : `${server}_${name}`
      return `${flag}${name}=${this.#replace(server, variable, value)}`
    }
    if (/^--?[\w-]+$/.test(before) && !argument.startsWith('-') && isSecret(before.replace(/^-+/, ''), argument)) {
      return this.#replace(server, `${server}_${before.replace(/^-+/, '')}`, argument)
    }
    return KNOWN_TOKEN.test(argument) ? this.#replace(server, `${server}_TOKEN`, argument) : this.#url(server, argument)
  }

  /** Hides user, password and parameters of a URL. */
  #url (server: string, text: string): string {
    if (!/^[a-z][a-z0-9+.-]*:\/\//i.test(text)) return text
    return text
      .replace(/^([a-z0-9+.-]+:\/\/[^/@:]*:)([^/\s]+)(@)/i, (_, head: string, password: string, at: string) =>
        `${head}${isVariable(password) ? password : this.#replace(server, `${server}_PASSWORD`, password)}${at}`)
      .replace(/([?&])([^=&#]+)=([^&#]+)/g, (whole, mark: string, name: string, value: string) =>
        isSecret(name, value) ? `${mark}${name}=${this.#replace(server, `${server}_${name}`, value)}` : whole)
  }

  #replace (server: string, wanted: string, value: string): string {
    const longer = wanted.startsWith(`${server}_`) ? [] : [`${server}_${wanted}`]
    const numbered = Array.from({ length: 1_000 }, (_, index) => `${wanted}_${index + 2}`)
    const isFree = (name: string): boolean =>
      this.#values.has(name) ? this.#values.get(name) === value : !this.#isTaken(name, value)
    const variable = [wanted, ...longer, ...numbered].map(variableOf).find(isFree) ?? variableOf(wanted)
    this.#values.set(variable, value)
    return this.#write(variable)
  }
}

/** True where a value that has this name looks like a secret. */
export function isSecret (name: string, value: string): boolean {
  if (value.length < 3 || isVariable(value) || /^(true|false|null|none|\d{1,6})$/i.test(value)) return false
  if (KNOWN_TOKEN.test(value) || SCHEME.test(value)) return true
  if (existsSync(value)) return false
  return SECRET_NAME.test(name) || MORE_NAMES.test(name) || isRandom(value)
}

/** True for a key, and false for words with hyphens, such as the name and date of a model. */
const isRandom = (value: string): boolean => LONG.test(value) && value.split(/[^A-Za-z0-9]+/).some(part => RANDOM.test(part))

const isVariable = (value: string): boolean => value.includes('${')

const variableOf = (name: string): string => {
  const words = name.normalize('NFKD').replace(/[^A-Za-z0-9]+/g, '_').replace(/^_+|_+$/g, '').toUpperCase()
  // A variable of the gateway itself begins with PATCHBAY_, and others of that name are mistakes.
  return /^[A-Z]/.test(words) && !words.startsWith('PATCHBAY_') ? words : `SECRET_${words}`
}

/** The values, also those in values that should be text: a mistake has secrets in it, too. */
const mapValues = (values: Entry, map: (name: string, value: string) => string): Entry =>
  Object.fromEntries(Object.entries(values).map(([name, value]) => [name, mapTexts(value, text => map(name, text))]))
