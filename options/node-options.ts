import { createHash, scrypt } from 'node:crypto'
import { basename } from 'node:path'
import { promisify } from 'node:util'
import { Options, type FlatOptions } from '../options.js'
import { withFixedValues, type ToolOverrides } from '../protocol/definitions/overrides/override.js'
import { Limits } from './limits.js'

type Name = keyof FlatOptions

/**
 * The options that may differ between nodes that share a store: where a node listens, how it logs, what its machine can
 * bear. All others must be equal.
 */
export const PER_NODE: ReadonlySet<Name> = new Set<Name>([
  'stdio',
  'http',
  'port',
  'host',
  'tls',
  'metrics',
  'console',
  'keepServing',
  'logLevel',
  'logFormat',
  'audit',
  'traces',
  'reload',
  'clipboard',
  'data',
  'ephemeral',
  'redis',
  'redisPrefix',
  'maxData',
  'trustProxy',
  'token',
  'view',
  'mcpConfig',
  'maxMcpConfig',
  'maxAllBytesInFlight',
  'maxEventLoopDelay',
  'maxHeap',
  'maxRss',
  'drainDelay',
  'grace',
  'maxConnections',
  'maxConnectionsPerAddress',
  'maxStreams',
  'maxQueued',
  'maxSessions'
])

/**
 * The options that may contain secrets. Their fingerprints are made with scrypt, since those who can read Redis could
 * otherwise try values quickly.
 */
const SECRET: ReadonlySet<Name> = new Set<Name>([
  'secret',
  'apiKeys',
  'searchUrl',
  'commands',
  'instructions',
  'oauth',
  'approvalWebhook',
  'views'
])

/**
 * The fields that are compared of an upstream server: neither its address nor its environment, which may contain
 * secrets.
 */
interface ComparedServer {
  readonly alias: string,
  readonly disabled: boolean,
  readonly prefix: string | undefined,
  readonly isolate: string,
  readonly pins?: string | undefined
  readonly scopes: readonly string[] | undefined
  readonly includeTools: readonly string[],
  readonly excludeTools: readonly string[]
  readonly override?: ToolOverrides | undefined
}

const deriveKey = promisify(scrypt) as (password: string, salt: string, length: number) => Promise<Buffer>

/**
 * A fingerprint of each option that must be equal at all nodes, by name. No value can be read from one. An option that
 * is not set has a fingerprint, too. `servers` are those of `mcpServers` and of `mcpConfig`.
 */
export async function fingerprintsOf (
  options: FlatOptions,
  servers: readonly ComparedServer[]
): Promise<Record<string, string>> {
  const compared = {
    ...options,
    plugins: options.plugins.map(nameOf),
    mcpServers: servers.map(partsOf).sort((a, b) => (a.alias < b.alias ? -1 : 1))
  }
  const { limits, ...properties } = Options.properties
  const names = (Object.keys({ ...properties, ...Limits.properties }) as Name[])
    .filter(name => !PER_NODE.has(name))
    .sort()
  const pairs = await Promise.all(
    names.map(async name => [name, await fingerprint(name, stable(compared[name]))] as const)
  )
  return Object.fromEntries(pairs)
}

async function fingerprint (name: Name, text: string): Promise<string> {
  const salt = `mcp-patchbay option ${name}`
  const bytes = SECRET.has(name)
    ? await deriveKey(text, salt, 12)
    : createHash('sha256').update(`${salt} ${text}`).digest().subarray(0, 12)
  return bytes.toString('base64url')
}

// A file may have another path on another machine.
const nameOf = (plugin: unknown): string =>
  typeof plugin === 'string' ? basename(plugin) : typeof plugin === 'function' ? plugin.name : ''

const partsOf = ({
  alias,
  disabled,
  prefix,
  isolate,
  pins,
  scopes,
  includeTools,
  excludeTools,
  override
}: ComparedServer): ComparedServer => ({
  alias,
  disabled,
  prefix,
  isolate,
  ...(pins !== undefined && { pins }),
  scopes,
  includeTools,
  excludeTools,
  // Fixed values may be secrets.
  ...(override !== undefined && { override: withFixedValues(override, () => null) })
})

/** JSON with the members of objects in the order of their names. */
function stable (value: unknown): string {
  return (
    JSON.stringify(value, (_key, member: unknown) =>
      typeof member === 'object' && member !== null && !Array.isArray(member)
        ? Object.fromEntries(Object.entries(member).sort(([a], [b]) => (a < b ? -1 : 1)))
        : member
    ) ?? ''
  )
}
