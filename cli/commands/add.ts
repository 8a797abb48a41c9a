import { parseOrHint } from '../settings/parse-arguments.js'
import type { Command } from './command.js'

const USAGE = 'patchbay add NAME [OPTION]... -- COMMAND [ARGUMENT]..., or patchbay add NAME URL [OPTION]...'

/** `patchbay add`. */
export const command: Command = {
  help: `Usage: patchbay add NAME [OPTION]... -- COMMAND [ARGUMENT]...
       patchbay add NAME URL [OPTION]...

Adds a server to the config file: a program that is started, or the URL of one
that runs. Comments and everything else in the file stay as they are. A gateway
that runs with this file takes the server over by itself.

  -e, --env NAME=VALUE      a variable of the program; may be repeated
  -H, --header "NAME: VALUE"
                            a header for the URL; may be repeated
  -t, --transport KIND      stdio, http, sse or websocket; without it, a URL is
                            tried as http, then as sse
  --config FILE             the config file, in place of the one of the user

For example: patchbay add linear https://mcp.linear.app/mcp
             patchbay add memory -- npx -y @modelcontextprotocol/server-memory
`,
  run: async argv => {
    const { addServer } = await import('../move/edit-servers.js')
    const end = argv.indexOf('--')
    const { positionals: [name, ...before], values } = parseOrHint({
      args: end < 0 ? argv : argv.slice(0, end),
      options: {
        env: { type: 'string', short: 'e', multiple: true },
        header: { type: 'string', short: 'H', multiple: true },
        transport: { type: 'string', short: 't' },
        config: { type: 'string' }
      },
      allowPositionals: true
    })
    const words = [...before, ...(end < 0 ? [] : argv.slice(end + 1))]
    if (name === undefined || words.length === 0 || (end >= 0 && before.length > 0)) {
      throw new Error(`a server has a name, and a URL or a command: ${USAGE}`)
    }
    const { env = [], header: headers = [], transport, config } = values
    addServer({ name, words, env, headers, transport }, {
      config,
      env: process.env,
      cwd: process.cwd(),
      print: text => { process.stdout.write(text) }
    })
  }
}
