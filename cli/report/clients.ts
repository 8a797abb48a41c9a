import { isQuiet } from '../../loader/demonstration.js'
import { didYouMean } from '../../lib/nearest-name.js'
import type { Options } from '../../options.js'
import { CLIENT_LIMITS } from '../../protocol/known-clients.js'
import type { Environment } from '../../system/environment.js'
import { withoutPassword } from '../../system/redis/url.js'
import { docsPage } from '../places.js'
import { QUIET } from './banner.js'
import { httpEntry } from './client-address.js'
import { clientEnvironment } from './client-environment.js'
import { CLIENTS, type StdioEntry } from './client-snippets.js'
import { sentence } from './wrap.js'

/**
 * The text of `patchbay clients [NAME]`: the names, or where to put what. Throws a sentence if there is no such client.
 */
export function describeClient (name: string | undefined, options: Options, launch: StdioEntry): string {
  if (name === undefined) return listOfClients()
  const client = Object.hasOwn(CLIENTS, name) ? CLIENTS[name] : undefined
  if (client === undefined) {
    throw new Error(
      `there is no client "${name}"${didYouMean(name, Object.keys(CLIENTS)) || `; these are: ${Object.keys(CLIENTS).join(', ')}`}`
    )
  }
  checkView(options)
  return [
    `${client.title}: ${client.place}`,
    '',
    'If the client is to launch the gateway:',
    client.stdio(launch),
    '',
    'If it is to connect to a gateway that is running:',
    client.http(httpEntry(addressOf(options), options)),
    '',
    ...(isQuiet(options)
      ? ['The client sees the upstream servers of these options. Built-in tools are', `${QUIET}.`, '']
      : []),
    ...limitsOf(name, client.title),
    'A gateway that the client launches has no console; add --port 8080 to its arguments',
    'for one.',
    '',
    ...sentence('How to see that it works:', docsPage('clients.md')),
    ''
  ].join('\n')
}

/** How many tools a client takes, and how long their names may be, where that is known. */
function limitsOf (name: string, title: string): string[] {
  const { tools, names } = CLIENT_LIMITS[name] ?? {}
  const limits = [
    ...(tools === undefined ? [] : [`${tools.max} tools of all its servers`]),
    ...(names === undefined ? [] : [`names of ${names.max - names.prefix.length} characters`])
  ]
  if (limits.length === 0) return []
  return [`${title} takes at most ${limits.join(', and ')}.`, 'To see what it gets: patchbay views', '']
}

/** Throws a sentence for a name with a slip in it. Others may be those of upstream servers, which are not read here. */
function checkView ({ view, views }: Options): void {
  const hint = view === undefined || Object.hasOwn(views, view) ? '' : didYouMean(view, Object.keys(views))
  if (hint !== '') throw new Error(`there is no view "${view ?? ''}"${hint}`)
}

function listOfClients (): string {
  const rows = Object.entries(CLIENTS).map(([name, { title }]) => `  ${name.padEnd(16)}${title}`)
  return ['patchbay clients NAME prints what to configure in a client, for the present options:', '', ...rows, ''].join(
    '\n'
  )
}

/** The address that the command listens on, with the port of the options. */
export function addressOf ({ host, port, tls }: Pick<Options, 'host' | 'port' | 'tls'>): string {
  return `${tls === undefined ? 'http' : 'https'}://${host.includes(':') && !host.startsWith('[') ? `[${host}]` : host}:${port}`
}

/**
 * How a client launches the command: with --stdio, and without what concerns HTTP, since two clients cannot listen on
 * one port.
 */
export function stdioEntry (
  [command = '', script = '', ...args]: string[],
  env: Environment = {},
  cwd = ''
): StdioEntry {
  const kept: string[] = []
  for (let index = 0; index < args.length; index++) {
    const arg = args[index] as string
    if (arg === '--port' || arg === '--host') index++
    else if (arg !== '--stdio' && arg !== '--keep-serving') kept.push(arg)
  }
  const variables = clientEnvironment(['--stdio', ...kept], env, cwd)
  return {
    command,
    args: [script, '--stdio', ...kept.map(withoutPassword)],
    ...(Object.keys(variables).length === 0 ? {} : { env: variables })
  }
}
