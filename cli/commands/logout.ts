import { visible } from '../../lib/one-line.js'
import { takeValue, takeWord } from '../settings/arguments.js'
import type { Command } from './command.js'
import { ownerFor, withServers } from './with-servers.js'

/** `patchbay logout`. */
export const command: Command = {
  help: `Usage: patchbay logout NAME [--as CALLER] [OPTION]...

Deletes the sign-in to an upstream server, and has its authorization server take
the tokens back where it can. A gateway that runs uses it no more. The options
are those of patchbay serve. Of a server with "auth": "caller", --as chooses the
sign-in of one caller, such as key:alice; all are deleted without it.

For example: patchbay logout linear --mcp-config .mcp.json
`,
  run: async argv => {
    const { value: caller, rest: words } = takeValue(argv, '--as')
    const { word: name, rest } = takeWord(words)
    if (name === undefined) throw new Error('which server? patchbay logout NAME; patchbay login lists them')
    await withServers(rest, async ({ upstreams, entries }) => {
      const why = upstreams.signIns.whyNot()
      if (why !== undefined) throw new Error(why)
      // A server that is not configured any more can be signed out of, too.
      const entry = entries.find(({ alias, name: given }) => alias === name || given === name)
      const { issuers, notRevoked } = await upstreams.signIns.signOut(
        entry?.alias ?? name,
        entry,
        caller === undefined || entry === undefined ? undefined : ownerFor(entry, caller)
      )
      const outcome = issuers.length === 0 ? `There is no sign-in to ${name}.` : `Signed out of ${name} (${issuers.join(', ')}).`
      process.stdout.write(`${visible(outcome)}\n`)
      for (const sentence of notRevoked) {
        process.stderr.write(`patchbay: the tokens were deleted, but not taken back: ${visible(sentence)}\n`)
      }
      return 0
    })
  }
}
