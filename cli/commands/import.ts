import { isatty } from 'node:tty'
import { homeFolder } from '../../system/environment.js'
import { parseOrHint } from '../settings/parse-arguments.js'
import type { Command } from './command.js'

/** `patchbay import`. */
export const command: Command = {
  help: `Usage: patchbay import [CLIENT]... [--write] [--secrets WAY] [--config FILE]

Finds the configuration files of clients on this machine and in this folder,
prints their servers and what would be added to the config file of Patchbay;
--write adds it. The files of the clients are not changed. The clients are
claude-desktop, claude-code, cursor, vscode, codex, gemini, windsurf, zed,
cline, kiro and continue; all without a name.

  --write         write the config file; the former one stays beside it (.bak)
  --secrets WAY   what to do with values that look like secrets: "variables"
                  leaves them out and names variables to set, "files" keeps
                  each in a file that only you can read, "keep" writes them as
                  they are; asked on a terminal, and "variables" elsewhere
  --config FILE   the config file, in place of the one of the user

For example: patchbay import claude-desktop cursor --write
`,
  run: async args => {
    const { importServers, SECRET_WAYS } = await import('../move/import-servers.js')
    const { positionals: clients, values: { config, write = false, secrets } } = parseOrHint({
      args,
      options: { config: { type: 'string' }, write: { type: 'boolean' }, secrets: { type: 'string' } },
      allowPositionals: true
    })
    const way = SECRET_WAYS.find(each => each === secrets)
    if (secrets !== undefined && way === undefined) {
      throw new Error(`--secrets must be one of ${SECRET_WAYS.join(', ')}, not "${secrets}"`)
    }
    await importServers({
      clients,
      config,
      write,
      secrets: way,
      machine: { platform: process.platform, env: process.env, home: homeFolder(), cwd: process.cwd() },
      terminal: isatty(1),
      canAsk: isatty(0) && isatty(1),
      print: text => { process.stdout.write(text) }
    })
  }
}
