import { lint } from '../report/lint.js'
import { takeWord } from '../settings/arguments.js'
import { printAboutServers } from './about-servers.js'
import type { Command } from './command.js'

/** `patchbay lint`. */
export const command: Command = {
  help: `Usage: patchbay lint [SERVER] [OPTION]...

Starts one upstream server, or all without a name, reads what they list, stops
them, and prints what some clients would refuse and is repaired, and what is
left out. Ends with 1 if something is left out or could not be read, with 0
otherwise, also if something was repaired. The options are those of
patchbay serve.

For example: patchbay lint github --mcp-config .mcp.json
`,
  run: async argv => {
    const { word: server, rest } = takeWord(argv)
    await printAboutServers(rest, async (options, locate, signal) => await lint(options, { server, locate, signal }))
  }
}
