import { createHash } from 'node:crypto'
import { resolve } from 'node:path'
import type { ToolOverrides } from '../protocol/definitions/overrides/override.js'
import type { Patience } from '../protocol/definitions/patience.js'
import type { ResultOptions } from '../protocol/definitions/result-options.js'
import type { TaskUse } from '../protocol/definitions/task-use.js'
import { canonicalJson } from '../protocol/wire/json.js'

/** How a server is reached. */
export type Address =
  | {
    readonly kind: 'stdio'
    readonly command: string
    readonly args: readonly string[]
    readonly env: Readonly<Record<string, string>>
    readonly cwd: string | undefined
  }
  /** `any` is HTTP of either era, and HTTP+SSE where the server knows nothing else. */
  | {
    readonly kind: 'any' | 'http' | 'sse' | 'websocket'
    readonly url: string
    readonly headers: Readonly<Record<string, string>>
  }
  /** An HTTP API that has an OpenAPI document. */
  | {
    readonly kind: 'openapi'
    /** The absolute path of the document, or its URL. */
    readonly document: string
    /** Where the API is; empty where the document says it. */
    readonly url: string
    readonly headers: Readonly<Record<string, string>>
    readonly credentials?: ApiCredentials | undefined
    readonly operations: OperationChoice
  }

/** How the gateway gets tokens for an API by itself (OAuth client credentials). */
export interface ApiCredentials {
  readonly tokenUrl: string
  readonly clientId: string
  readonly clientSecret: string
  readonly scopes?: readonly string[] | undefined
}

/** The operations of an API that become tools. */
export interface OperationChoice {
  /** Patterns for operationIds, or for a method and a path; all when absent. */
  readonly include?: readonly string[] | undefined
  readonly exclude?: readonly string[] | undefined
  readonly tags?: readonly string[] | undefined
  /** HTTP methods; those that only read when absent. */
  readonly methods?: readonly string[] | undefined
  /** True where tools are listed with the schemas of answers. */
  readonly outputSchema?: boolean | undefined
}

/** How a person signs in to a server, where the server does not say all of it. */
export interface OAuthSettings {
  /** The id of a client that is registered, or the https URL of its metadata document. */
  readonly clientId?: string | undefined
  readonly clientSecret?: string | undefined
  /** The scopes to ask for, in place of those that the server names. */
  readonly scopes?: readonly string[] | undefined
  /** The port of 127.0.0.1 that the browser is sent back to; any free one when absent. */
  readonly callbackPort?: number | undefined
  /** The address of the gateway that browsers of callers on other machines are sent back to. */
  readonly redirectUri?: string | undefined
  /** Who is signed in: a person, or the client itself; a person when absent. */
  readonly grant?: 'authorization_code' | 'client_credentials' | undefined
  /** The only authorization server that the client is for. */
  readonly issuer?: string | undefined
}

/**
 * One upstream server as it is configured: variables expanded, paths absolute, every default filled in. Plain data, so
 * that two can be compared.
 */
export interface ServerEntry {
  /** Names it in tool names and URLs: `[a-z][a-z0-9-]*`, never with `__`. Unique. */
  readonly alias: string
  /** The key it has in its file. */
  readonly name: string
  /** The file or option it comes from, for messages. */
  readonly source: string
  readonly address: Address
  readonly oauth?: OAuthSettings | undefined
  /** Each caller signs in, and its requests carry its own token; one sign-in is for all callers when absent. */
  readonly auth?: 'caller' | undefined
  readonly disabled: boolean
  /** How long a call may run without progress, in milliseconds; the option `callTimeout` when absent. */
  readonly timeout: number | undefined
  /** How long it may take to start, in milliseconds; the option for all servers when absent. */
  readonly startTimeout?: number | undefined
  /** Globs of the tools that are served; all when empty. */
  readonly includeTools: readonly string[]
  readonly excludeTools: readonly string[]
  /** How its tools look to callers, by its own names; fixed values may be secrets. */
  readonly override?: ToolOverrides | undefined
  /** How what it offers is listed: repaired where clients would refuse it, or as it was sent. */
  readonly schemas: 'safe' | 'as-is'
  /** Where what it offers is held to what operators accepted: only reported, or held back; absent where neither. */
  readonly pins?: 'report' | 'hold' | undefined
  /** The text before its names; `alias__` when absent, nothing when empty. */
  readonly prefix: string | undefined
  /** The version of the protocol that it is spoken to in; found out when absent. */
  readonly revision?: string | undefined
  /** With the gateway, when it is first used, or only when its lists are asked for: in a gateway that is checked. */
  readonly start: 'eager' | 'lazy' | 'held'
  /** After how many milliseconds without a call it is stopped; never when absent. */
  readonly idle: number | undefined
  /** Which callers share a connection: all of them, those of one principal, or those of one session. */
  readonly isolate: 'none' | 'principal' | 'session'
  /** How much of the results of its tools clients get; all of it when absent. */
  readonly results?: ResultOptions | undefined
  /** How long clients wait for its tools before they are answered early; for ever when absent. */
  readonly patience?: Patience | undefined
  /** How calls of its tools become tasks; as it says itself when absent. */
  readonly task?: TaskUse | undefined
  /** Scopes that a caller must have been granted for everything it serves; `mcp` when absent. */
  readonly scopes: readonly string[] | undefined
  /** The folders that a legacy server gets when it asks for roots, as `file:` URIs; when absent, it cannot ask. */
  readonly roots: readonly string[] | undefined
  /** True where the server may ask callers for input, and their models. */
  readonly elicitation: boolean
  readonly sampling: boolean
  /** The texts in it that came out of files and programs. */
  readonly secrets?: readonly string[] | undefined
}

/** The entry of an API. */
export type ApiEntry = ServerEntry & { readonly address: Extract<Address, { kind: 'openapi' }> }

export const isApi = (entry: ServerEntry): entry is ApiEntry => entry.address.kind === 'openapi'

/**
 * A hash of what tells one server from another. Environment, headers, and the user and query of a URL are left out:
 * they may be secret. The working directory of the gateway, `here`, counts only where a path depends on it.
 */
export function identityOf ({ address }: Pick<ServerEntry, 'address'>, here = resolve('.')): string {
  const parts =
    address.kind === 'stdio'
      ? [address.command, address.args, address.cwd ?? (hasRelativePath(address) ? here : null)]
      : [withoutSecrets(address.url), ...(address.kind === 'openapi' ? [withoutSecrets(address.document)] : [])]
  return createHash('sha256').update(canonicalJson(parts)).digest('base64url').slice(0, 22)
}

function hasRelativePath ({ command, args }: Extract<Address, { kind: 'stdio' }>): boolean {
  return [command, ...args].some(word => word.startsWith('.'))
}

function withoutSecrets (url: string): string {
  const { origin, pathname } = URL.canParse(url) ? new URL(url) : { origin: url, pathname: '' }
  return origin + pathname
}
