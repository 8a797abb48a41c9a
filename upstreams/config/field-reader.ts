import { isAbsolute, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { nearestName } from '../../lib/nearest-name.js'
import type { Server } from '../../options/upstreams.js'
import { withFixedValues, type ToolOverrides } from '../../protocol/definitions/overrides/override.js'
import { isObject } from '../../protocol/wire/json.js'
import type { Address, ServerEntry } from '../server-entry.js'
import type { Findings } from './findings.js'
import type { FoundServer } from './found-server.js'
import type { KnownFields } from './known-fields.js'
import { kindOf, splitUrl } from './server-address.js'
import { expandVariables, mapTexts, parseEnvironmentFile, readText, type Variables } from '../../system/variables.js'

/** The names of headers, and what their values may not have. */
const TOKEN = /^[\w!#$%&'*+.^`|~-]+$/
const FORBIDDEN = /[^\t\x20-\x7e\x80-\xff]/

const BAD_NAME = 'has a name with characters that HTTP does not allow; names have letters, digits and dashes'
const BAD_VALUE = 'has characters that HTTP does not allow; look for line breaks and letters outside of ISO 8859-1'

const WRITE_HOME = 'write ${userHome} for it' // eslint-disable-line no-template-curly-in-string

/** A `timeout` below this is a number of seconds. */
const SECONDS = 1_000

/** Reads the checked fields of one server, with their variables expanded. What is wrong is added to the findings. */
export class FieldReader {
  readonly #server: FoundServer
  readonly #fields: KnownFields
  readonly #values: Server
  readonly #variables: Variables
  readonly #findings: Findings

  constructor (server: FoundServer, fields: KnownFields, variables: Variables, findings: Findings) {
    this.#server = server
    this.#fields = fields
    this.#values = fields.values as Server
    this.#variables = variables
    this.#findings = findings
  }

  address (): Address | undefined {
    const { command, url, type, args = [] } = this.#values
    const kind = kindOf({ command, url, type, lenient: this.#server.lenient })
    if ('mistake' in kind) {
      this.#mistake(kind.field, kind.mistake + this.#misspelt())
      return undefined
    }
    if (kind.kind !== 'stdio') return this.#remote(kind.kind)
    return {
      kind: 'stdio',
      command: this.#command(command ?? ''),
      args: args.map((arg, index) => this.#argument(String(arg), index)),
      env: this.#environment(),
      cwd: this.#cwd()
    }
  }

  /** Everything but the address. */
  rest (alias: string, schemasOfAll: ServerEntry['schemas']): Omit<ServerEntry, 'address'> {
    const {
      disabled = false,
      includeTools = [],
      excludeTools = [],
      schemas = schemasOfAll,
      prefix,
      start = 'eager',
      idle,
      isolate = 'none',
      scopes,
      roots,
      elicitation = true,
      sampling = true,
      startTimeout,
      revision,
      results,
      override
    } = this.#values
    return {
      alias,
      name: this.#server.name,
      source: this.#server.source,
      disabled,
      timeout: this.#timeout(),
      ...(startTimeout === undefined ? {} : { startTimeout }),
      ...(revision === undefined ? {} : { revision }),
      ...(results === undefined ? {} : { results }),
      includeTools,
      excludeTools,
      ...(override === undefined ? {} : { override: this.#override(override) }),
      schemas,
      prefix,
      start,
      idle,
      isolate,
      scopes,
      roots: roots?.map((root, index) => this.#root(`roots.${index}`, root)),
      elicitation,
      sampling
    }
  }

  /** The overrides, with the variables in fixed values expanded. */
  #override (overrides: ToolOverrides): ToolOverrides {
    return withFixedValues(overrides, (value, tool, argument) =>
      mapTexts(value, text => this.#text(`override.${tool}.arguments.${argument}.value`, text)))
  }

  /** Says what is likely meant by a field that is not known, for a server without an address. */
  #misspelt (): string {
    const { command, url } = this.#values
    if (command !== undefined || url !== undefined) return ''
    const field = this.#fields.unused.find(name => nearestName(name, ['command', 'url']) !== undefined)
    return field === undefined
      ? ''
      : `; did you mean "${nearestName(field, ['command', 'url'])}" where it has "${field}"?`
  }

  #remote (kind: Exclude<Address['kind'], 'stdio'>): Address | undefined {
    const { url: given = '', headers = {} } = this.#values
    const before = this.#findings.count
    const texts = Object.fromEntries(
      Object.entries(headers).map(([name, value]) => [name, this.#header(name, String(value))])
    )
    const split = splitUrl(this.#text('url', given), kind)
    // The URL of a variable without a value would only be wrong once more.
    if (typeof split === 'string') {
      if (this.#findings.count === before) this.#mistake('url', split)
      return undefined
    }
    const { authorization } = split
    const isAuthorized = Object.keys(texts).some(name => name.toLowerCase() === 'authorization')
    const headersOfUrl = authorization === undefined || isAuthorized ? {} : { Authorization: authorization }
    return { kind: split.kind, url: split.url, headers: { ...texts, ...headersOfUrl } }
  }

  #header (name: string, given: string): string {
    const value = this.#text(`headers.${name}`, given)
    if (!TOKEN.test(name)) {
      this.#mistake('headers', BAD_NAME)
    } else if (FORBIDDEN.test(value)) {
      this.#mistake(`headers.${name}`, BAD_VALUE)
    }
    return value
  }

  /** The program. Only a shell gives `~` a meaning, and there is none between. */
  #command (given: string): string {
    if (/^~[\\/]/.test(given)) this.#mistake('command', `begins with ~, which only a shell knows; ${WRITE_HOME}`)
    return this.#text('command', given)
  }

  #argument (given: string, index: number): string {
    if (/^~\//.test(given)) {
      const what = `begins with ~, which only a shell knows, so the server gets it as it is; ${WRITE_HOME}`
      this.#findings.warn(this.#server, `args.${index}`, what)
    }
    return this.#text(`args.${index}`, given)
  }

  #environment (): Record<string, string> {
    const { env = {}, envFile } = this.#values
    const values: Record<string, string> = Object.fromEntries(
      this.#passed().map(name => [name, this.#text('env_vars', `\${env:${name}}`)])
    )
    if (envFile !== undefined) Object.assign(values, this.#environmentFile(envFile))
    for (const [name, value] of Object.entries(env)) values[name] = this.#text(`env.${name}`, String(value))
    return values
  }

  /** The variables of the gateway that are passed on by name, where they are set. */
  #passed (): string[] {
    const { envVars = [] } = this.#fields.values as { envVars?: unknown[] }
    return envVars
      .map(item => String(isObject(item) ? item['name'] : item))
      .filter(name => this.#variables.env[name] !== undefined)
  }

  #environmentFile (given: string): Record<string, string> {
    try {
      return parseEnvironmentFile(readText(this.#path('envFile', given), this.#variables))
    } catch (error) {
      this.#mistake('envFile', (error as Error).message)
      return {}
    }
  }

  #cwd (): string | undefined {
    const { cwd } = this.#values
    return cwd === undefined ? this.#server.folder : this.#path('cwd', cwd)
  }

  #timeout (): number | undefined {
    const { timeout } = this.#values
    if (timeout === undefined || timeout >= SECONDS || this.#fields.names.get('timeout') === 'tool_timeout_sec') {
      return timeout
    }
    this.#findings.warn(this.#server, 'timeout', `is below ${SECONDS}, so it is taken as ${timeout} seconds`)
    return Math.round(timeout * SECONDS)
  }

  /** A folder as a `file:` URI, which it may be already. */
  #root (field: string, given: string): string {
    const text = this.#text(field, given)
    return /^file:\/\//i.test(text) ? text : pathToFileURL(this.#absolute(text)).href
  }

  #path (field: string, given: string): string {
    return this.#absolute(this.#text(field, given))
  }

  #absolute (text: string): string {
    const { home, folder } = this.#variables
    if (isAbsolute(text)) return text
    return home !== undefined && /^~(\/|$)/.test(text) ? resolve(home, text.slice(2)) : resolve(folder, text)
  }

  #text (field: string, given: string): string {
    return expandVariables(given, this.#variables, sentence => this.#mistake(field, sentence))
  }

  #mistake (field: string, sentence: string): void {
    this.#findings.mistake(this.#server, this.#fields.names.get(field) ?? field, sentence)
  }
}
