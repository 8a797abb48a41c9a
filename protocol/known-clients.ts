/** A figure about a client, and where it is reported: clients change without notice. */
interface Reported { readonly max: number, readonly outcome: string, readonly source: string }

/** How many tools a client takes, how long their names may be, and what it does beyond that. */
export interface ClientLimits {
  readonly title: string
  /** The most tools of all servers together. */
  readonly tools?: Reported
  /** The most characters of a name, with the text that the client puts before it. */
  readonly names?: Reported & { readonly prefix: string }
}

/** The name that the gateway has in the configurations that `patchbay clients` prints. */
const SERVER = 'patchbay'

/** The limits of clients, by the names that `patchbay clients` takes. A client without a known limit is not here. */
export const CLIENT_LIMITS: Readonly<Record<string, ClientLimits>> = {
  'claude-desktop': {
    title: 'Claude Desktop',
    names: {
      max: 64,
      prefix: '',
      outcome: 'refuses',
      source: 'https://github.com/anthropics/claude-code/issues/34960'
    }
  },
  'claude-code': {
    title: 'Claude Code',
    names: {
      max: 64,
      prefix: `mcp__${SERVER}__`,
      outcome: 'fails when its tool search finds',
      source: 'https://github.com/cloudflare/skills/issues/11'
    }
  },
  cursor: {
    title: 'Cursor',
    tools: {
      max: 80,
      outcome: 'warns, and may not offer the others',
      source: 'https://github.com/Snowflake-Labs/mcp/issues/77'
    },
    names: {
      max: 59,
      prefix: SERVER,
      outcome: 'leaves out',
      source: 'https://github.com/ComposioHQ/composio/issues/2788'
    }
  },
  vscode: {
    title: 'VS Code',
    tools: {
      max: 128,
      outcome: 'refuses requests',
      source: 'https://github.com/microsoft/vscode-copilot-release/issues/13065'
    },
    names: {
      max: 64,
      prefix: `mcp_${SERVER}_`,
      outcome: 'cuts',
      source: 'https://github.com/microsoft/vscode/issues/243602'
    }
  },
  windsurf: {
    title: 'Windsurf',
    tools: {
      max: 100,
      outcome: 'refuses the server',
      source: 'https://docs.windsurf.com/windsurf/cascade/mcp'
    }
  },
  gemini: {
    title: 'Gemini CLI',
    names: {
      max: 63,
      prefix: `mcp_${SERVER}_`,
      outcome: 'cuts',
      source: 'https://github.com/google-gemini/gemini-cli/blob/main/docs/tools/mcp-server.md'
    }
  }
}

/** Something that a client does not take as it is. */
export interface ClientRemark {
  /** The name that `patchbay clients` takes. */
  readonly client: string
  /** The names that it does not take; undefined where there are too many tools. */
  readonly names?: readonly string[]
  readonly text: string
}

/** The most names that a sentence lists. */
const NAMED = 3

/** Says which clients would not take these tools as they are, by the names that they are listed under. */
export function clientRemarks (names: readonly string[]): ClientRemark[] {
  return Object.entries(CLIENT_LIMITS).flatMap(([client, { title, tools, names: named }]) => {
    const longest = named === undefined ? Infinity : named.max - named.prefix.length
    const long = names.filter(({ length }) => length > longest).sort()
    return [
      ...(tools === undefined || names.length <= tools.max
        ? []
        : [{
            client,
            text: `${title} takes ${tools.max} tools of all servers together; above that it ${tools.outcome}`
          }]),
      ...(named === undefined || long.length === 0
        ? []
        : [{
            client,
            names: long,
            text: `${title} ${named.outcome} names of more than ${longest} characters: ${listOf(long)}`
          }])
    ]
  })
}

function listOf (names: readonly string[]): string {
  const shown = names.slice(0, NAMED).join(', ')
  return names.length > NAMED ? `${shown} and ${names.length - NAMED} more` : shown
}

/** How long a client waits for the response to a call, in milliseconds, and where that is reported. */
interface Wait { readonly ms: number, readonly source: string }

/** The time after which requests of the official SDKs time out, unless a client sets another one. */
const USUAL_WAIT = 60_000
/** The part of it that a call may take: its answer has to arrive, too. */
const USED = 11 / 12

/**
 * By the name that a client gives itself, or its beginning. Where versions or settings differ, the shortest counts; a
 * client that is not here is taken to wait as long as those of the official SDKs do.
 */
const WAITS: Readonly<Record<string, Wait>> = {
  'claude-ai': { ms: 60_000, source: 'https://github.com/anthropics/claude-code/issues/22542' },
  'claude-code': { ms: 60_000, source: 'https://github.com/anthropics/claude-code/issues/63379' },
  'codex-mcp-client': { ms: 60_000, source: 'https://github.com/kky42/codex-as-mcp/issues/5' },
  'gemini-cli-mcp-client': {
    ms: 600_000,
    source: 'https://github.com/google-gemini/gemini-cli/blob/main/docs/tools/mcp-server.md'
  },
  'Visual Studio Code': {
    ms: Infinity,
    source: 'https://github.com/microsoft/vscode-copilot-release/issues/14130'
  }
}

/** For how long a call of this client may run before it has to be answered: shortly before the client gives up. */
export function clientWait (client: unknown): number {
  const { name } = Object(client) as { name?: unknown }
  const known = typeof name === 'string' ? Object.keys(WAITS).find(start => name.startsWith(start)) : undefined
  return USED * (known === undefined ? USUAL_WAIT : WAITS[known]?.ms ?? USUAL_WAIT)
}
