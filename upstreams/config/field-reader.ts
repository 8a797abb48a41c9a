import { isAbsolute, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { nearestName } from '../../lib/nearest-name.js'
import type { Server } from '../../options/upstreams.js'
import { withFixedValues, type ToolOverrides } from '../../protocol/definitions/overrides/override.js'
import { isObject } from '../../protocol/wire/json.js'
import type { Address, OAuthSettings, ServerEntry } from '../server-entry.js'
import type { Findings } from './findings.js'
import type { FoundServer } from './found-server.js'
import type { KnownFields } from './known-fields.js'
import { apiAddress, remoteAddress, type FieldTexts } from './remote-address.js'
import { kindOf } from './server-address.js'
import { expandVariables, mapTexts, parseEnvironmentFile, readText, type Variables } from '../../system/variables.js'

const WRITE_HOME = 'write ${userHome} for it' // eslint-disable-line no-template-curly-in-string

const INCOMPLETE = 'needs clientId, clientSecret and issuer, the URL of the authorization server, for client_credentials'

/** A `timeout` below this is a number of seconds. */
const SECONDS = 1_000

/** Reads the checked fields of one server, with their variables expanded. What is wrong is added to the findings. */
export class FieldReader {
  readonly #server: FoundServer
  readonly #fields: KnownFields
  readonly #values: Server
  readonly #variables: Variables
  readonly #findings: Findings
  readonly #secrets = new Set<string>()

  constructor (server: FoundServer, fields: KnownFields, variables: Variables, findings: Findings) {
    this.#server = server
    this.#fields = fields
    this.#values = fields.values as Server
    this.#variables = { ...variables, onSecret: text => this.#secrets.add(text) }
    this.#findings = findings
  }

  address (): Address | undefined {
    const { command, url, openapi, type, args = [] } = this.#values
    const kind = kindOf({ command, url, openapi, type, lenient: this.#server.lenient })
    if ('mistake' in kind) {
      this.#mistake(kind.field, kind.mistake + this.#misspelt())
      return undefined
    }
    if (kind.kind === 'openapi') return apiAddress(this.#values, this.#texts)
    if (kind.kind !== 'stdio') return remoteAddress(kind.kind, this.#values, this.#texts)
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
      startTimeout, revision, results, patience, task, override, oauth
    } = this.#values
    return {
      alias,
      name: this.#server.name,
      source: this.#server.source,
      ...(oauth === undefined ? {} : { oauth: this.#oauth(oauth) }),
      disabled,
      timeout: this.#timeout(),
      ...(startTimeout === undefined ? {} : { startTimeout }),
      ...(revision === undefined ? {} : { revision }),
      ...(results === undefined ? {} : { results }),
      ...(patience === undefined ? {} : { patience }),
      ...(task === undefined ? {} : { task }),
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

  /** Without a value, a variable costs the sign-in and not the server: that may have another credential. */
  #oauth ({ clientId, clientSecret, ...rest }: NonNullable<Server['oauth']>): OAuthSettings {
    // The gateway signs in by itself, so nothing may be missing.
    const isAlone = rest.grant === 'client_credentials'
    if (isAlone && !(clientId && clientSecret && URL.canParse(rest.issuer ?? ''))) this.#mistake('oauth', INCOMPLETE)
    const texts = Object.entries({ clientId, clientSecret }).flatMap(([member, given]) => {
      const before = this.#findings.warnings.length
      const text = given && expandVariables(given, this.#variables, sentence => isAlone
        ? this.#mistake('oauth', sentence)
        : this.#findings.warn(this.#server, this.#fields.names.get('oauth') ?? 'oauth', `${sentence}; it is left out`))
      return text === undefined || this.#findings.warnings.length > before ? [] : [[member, text]]
    })
    return { ...rest, ...Object.fromEntries(texts) }
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
      this.#passedVariables().map(name => [name, this.#text('env_vars', `\${env:${name}}`)])
    )
    if (envFile !== undefined) Object.assign(values, this.#environmentFile(envFile))
    for (const [name, value] of Object.entries(env)) values[name] = this.#text(`env.${name}`, String(value))
    return values
  }

  /** The variables of the gateway that are passed on by name, where they are set. */
  #passedVariables (): string[] {
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

  readonly #texts: FieldTexts = {
    text: (field, given) => this.#text(field, given),
    path: (field, given) => this.#path(field, given),
    follow: file => this.#variables.onFile(file),
    mistake: (field, sentence) => this.#mistake(field, sentence),
    countMistakes: () => this.#findings.count
  }

  #text (field: string, given: string): string {
    return expandVariables(given, this.#variables, sentence => this.#mistake(field, sentence))
  }

  /** The texts that came out of files and programs, once everything else was read. */
  secrets (): Pick<ServerEntry, 'secrets'> {
    return this.#secrets.size === 0 ? {} : { secrets: [...this.#secrets] }
  }

  #mistake (field: string, sentence: string): void {
    this.#findings.mistake(this.#server, this.#fields.names.get(field) ?? field, sentence)
  }
}
