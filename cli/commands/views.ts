import { describeViews } from '../report/views.js'
import { takeWord } from '../settings/arguments.js'
import { printAboutServers } from './about-servers.js'
import type { Command } from './command.js'

/** `patchbay views`. */
export const command: Command = {
  help: `Usage: patchbay views [NAME] [--json] [OPTION]...

Prints the tools of a view or an upstream server with their names and their
estimated tokens; without a name, prints the views and servers with what they
have and cost. Lists of servers are those that a gateway stored in the data
folder; other servers are started, read and stopped. --json prints JSON. Ends
with 1 if a server could not be read. The options are those of patchbay serve.

For example: patchbay views work --config patchbay.json
`,
  run: async argv => {
    const { word: name, rest } = takeWord(argv.filter(word => word !== '--json'))
    const json = argv.includes('--json')
    await printAboutServers(
      rest,
      async (options, _locate, signal) => await describeViews(options, { name, json, signal })
    )
  }
}
