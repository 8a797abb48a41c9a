import { createHash } from 'node:crypto'
import { resolve } from 'node:path'
import type { ToolOverrides } from '../protocol/definitions/overrides/override.js'
import type { ResultOptions } from '../protocol/definitions/result-options.js'
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
  /** Scopes that a caller must have been granted for everything it serves; `mcp` when absent. */
  readonly scopes: readonly string[] | undefined
  /** The folders that a legacy server gets when it asks for roots, as `file:` URIs; when absent, it cannot ask. */
  readonly roots: readonly string[] | undefined
  /** True where the server may ask callers for input, and their models. */
  readonly elicitation: boolean
  readonly sampling: boolean
}

/**
 * A hash of what tells one server from another. Environment, headers, and the user and query of a URL are left out:
 * they may be secret. The working directory of the gateway, `here`, counts only where a path depends on it.
 */
export function identityOf ({ address }: Pick<ServerEntry, 'address'>, here = resolve('.')): string {
  const parts =
    address.kind === 'stdio'
      ? [address.command, address.args, address.cwd ?? (hasRelativePath(address) ? here : null)]
      : [withoutSecrets(address.url)]
  return createHash('sha256').update(canonicalJson(parts)).digest('base64url').slice(0, 22)
}

function hasRelativePath ({ command, args }: Extract<Address, { kind: 'stdio' }>): boolean {
  return [command, ...args].some(word => word.startsWith('.'))
}

function withoutSecrets (url: string): string {
  const { origin, pathname } = URL.canParse(url) ? new URL(url) : { origin: url, pathname: '' }
  return origin + pathname
}
