import type { Options } from '../options.js'
import { content } from '../options/content.js'

type Asking = Pick<Options, 'tools' | 'commands' | 'roots' | 'searchUrl' | 'clipboard' | 'mcpServers' | 'mcpConfig'>

/**
 * The files of `tools/`, `resources/` and `prompts/` that are served beside upstream servers where an option configures
 * what they use.
 */
const CONFIGURED: Record<string, (options: Asking) => boolean> = {
  'tools/execute-command': ({ commands }) => Object.keys(commands).length > 0,
  'tools/get-clipboard': ({ clipboard: { remote } }) => remote,
  'tools/set-clipboard': ({ clipboard: { remote } }) => remote,
  'tools/web-search': ({ searchUrl }) => searchUrl !== content.searchUrl.default,
  'resources/files': ({ roots }) => roots.length > 0
}

/** The files that show what a gateway can do. */
const DEMONSTRATION = new Set([
  ...[
    'add-note',
    'calculate',
    'delete-note',
    'get-current-time',
    'get-notes',
    'health-check',
    'increment-counter',
    'list-roots',
    'long-running-task',
    'summarize-notes'
  ].map(name => `tools/${name}`),
  ...['notes', 'server-counter', 'server-status'].map(name => `resources/${name}`),
  ...['analyze-system', 'greeting'].map(name => `prompts/${name}`)
])

/**
 * True where upstream servers are configured and `tools` is not set: clients then see what the servers have, and what
 * an option or a file of the operator adds.
 */
export const isQuiet = ({
  tools,
  mcpServers,
  mcpConfig
}: Pick<Asking, 'tools' | 'mcpServers' | 'mcpConfig'>): boolean =>
  tools === undefined && (mcpConfig.length > 0 || Object.keys(mcpServers).length > 0)

/**
 * Tells whether a file of `tools/`, `resources/` or `prompts/` is served. One that is not ours, such as a tool that was
 * added to a checkout, is.
 */
export function isAskedFor (file: string, options: Asking): boolean {
  if (!isQuiet(options)) return options.tools !== false
  const [name = ''] = /[^\\/]+[\\/][^\\/]+(?=\.[a-z]+$)/.exec(file) ?? []
  const key = name.replaceAll('\\', '/')
  return Object.hasOwn(CONFIGURED, key) ? CONFIGURED[key]?.(options) === true : !DEMONSTRATION.has(key)
}
