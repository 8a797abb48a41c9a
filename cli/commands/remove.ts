import { parseOrHint } from '../settings/parse-arguments.js'
import type { Command } from './command.js'

/** `patchbay remove`. */
export const command: Command = {
  help: `Usage: patchbay remove NAME [--config FILE]

Removes a server from the config file. Comments and everything else in the file
stay as they are, and the former file stays beside it (.bak). A gateway that
runs with this file ends the server by itself.

For example: patchbay remove linear
`,
  run: async args => {
    const { removeServer } = await import('../move/edit-servers.js')
    const { positionals: [name, ...more], values: { config } } = parseOrHint({
      args,
      options: { config: { type: 'string' } },
      allowPositionals: true
    })
    if (name === undefined || more.length > 0) {
      throw new Error('one server is removed by its name: patchbay remove NAME')
    }
    const print = (text: string): void => { process.stdout.write(text) }
    removeServer(name, { config, env: process.env, cwd: process.cwd(), print })
  }
}
