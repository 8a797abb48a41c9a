import { parseOrHint } from '../settings/parse-arguments.js'
import type { Command } from './command.js'

/** `patchbay list`. */
export const command: Command = {
  help: `Usage: patchbay list [--json] [--config FILE]

Prints the servers of the config file with their programs or URLs, and starts
none of them; patchbay views says what they offer. --json prints JSON.

For example: patchbay list
`,
  run: async args => {
    const { listServers } = await import('../move/edit-servers.js')
    const { values: { config, json = false } } = parseOrHint({
      args,
      options: { config: { type: 'string' }, json: { type: 'boolean' } }
    })
    const print = (text: string): void => { process.stdout.write(text) }
    listServers(json, { config, env: process.env, cwd: process.cwd(), print })
  }
}
