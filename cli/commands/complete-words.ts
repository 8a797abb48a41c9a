import { complete, splitLine, type Lists } from '../ask/complete.js'
import { readInvocation } from '../ask/invocation.js'
import { readSettings } from '../settings/read-settings.js'
import { version } from '../../version.js'
import type { Command } from './command.js'

/** How long a shell waits, in milliseconds: what is not known by then is not offered. */
const WITHIN = 2_000

/** Words that a shell takes as they are; the script for bash quotes none. */
const PLAIN = /^[\w@%+=:,./{}*?-]+$/

/** `patchbay complete-words`, which the scripts of `patchbay completion` run. It says nothing about mistakes. */
export const completeWith = (commands: readonly string[]): Command => ({
  help: 'Usage: patchbay complete-words SHELL WORD...\n\nFor the scripts of patchbay completion.\n',
  answersHelp: () => true,
  run: async ([shell, ...given]) => {
    const signal = AbortSignal.timeout(WITHIN)
    setTimeout(() => process.exit(0), WITHIN + 500)
    process.on('uncaughtException', () => process.exit(0))
    try {
      const words = shell === 'bash' ? splitLine(given[0] ?? '').slice(1) : given
      const candidates = await complete(words, commands, listsOf(signal))
      const lines = candidates
        .filter(({ word }) => (shell === 'bash' ? PLAIN.test(word) : !/\p{C}/u.test(word)))
        .map(({ word, about }) => (about === '' ? word : `${word}\t${about}`))
      process.stdout.write(lines.map(line => `${line}\n`).join(''), () => process.exit(0))
    } catch {
      process.exit(0)
    }
  }
})

/** The lists of the gateway of this machine, or of `--url`; a program is not started for a key that was pressed. */
const listsOf = (signal: AbortSignal): Lists => ({
  of: async (kind, before) => {
    const flags = { json: { type: 'string' }, out: { type: 'string' } } as const
    const invocation = readInvocation([...before], flags, process.env, process.cwd())
    const { openClient } = await import('../../upstreams/client/open-client.js')
    const client = await openClient({
      address: invocation.address,
      revision: invocation.revision,
      clientInfo: { name: 'patchbay-cli', version },
      limits: invocation.limits,
      logLevel: undefined,
      events: { progress: () => {}, log: () => {}, elicit: async () => ({ action: 'decline' }), warn: () => {} }
    }, signal)
    return await client.list(kind, signal)
  },
  names: async (kind, before) => {
    if (kind === 'clients') return Object.keys((await import('../move/clients.js')).MOVING_CLIENTS)
    const { options } = readSettings(sourcesIn(before), process.env, process.cwd())
    if (kind === 'views') return Object.keys(options.views ?? {})
    const files = await Promise.all((options.mcpConfig ?? []).map(namesInFile))
    return [...Object.keys(options.mcpServers ?? {}), ...files.flat()]
  }
})

/** The flags that say where servers and views are configured. */
function sourcesIn (before: readonly string[]): string[] {
  return before.flatMap((word, index) => {
    if (/^--(config|mcp-config)=/.test(word)) return [word]
    const value = before[index + 1]
    return /^--(config|mcp-config)$/.test(word) && value !== undefined ? [word, value] : []
  })
}

/** The servers in a file of a client, without what their entries would run or read. */
async function namesInFile (file: string): Promise<string[]> {
  const [{ readClientFile }, { Findings }] =
    await Promise.all([import('../../upstreams/config/client-file.js'), import('../../upstreams/config/findings.js')])
  const servers = await readClientFile(file, {
    home: undefined,
    maxFile: 2 ** 24,
    onFile: () => {},
    findings: new Findings(),
    describeForeign: () => undefined
  })
  return servers.map(({ name }) => name)
}
