import { didYouMean } from '../../lib/nearest-name.js'
import { lockFileOf } from '../places.js'
import { ACTIONS, managePins } from '../pins/pins.js'
import { takeWord } from '../settings/arguments.js'
import { printAboutServers } from './about-servers.js'
import type { Command } from './command.js'

/** `patchbay pins`. */
export const command: Command = {
  help: `Usage: patchbay pins list | diff | verify | reset [SERVER] [OPTION]...
       patchbay pins accept [SERVER [--expect FINGERPRINT]] [OPTION]...

What you accept of upstream servers is kept in patchbay.lock beside the config
file, or in the store without one; the option pins holds the servers to it.

list    what is accepted, without starting a server
diff    starts the servers, and prints what they offer that is not as accepted
accept  accepts what they offer; with --expect only if the fingerprint is the
        one that diff printed
verify  like diff, one line for each difference; ends with 1 if there is one
reset   takes back what is accepted

Servers that are started are stopped again. The options are those of patchbay
serve.

For example: patchbay pins accept github --config patchbay.json
`,
  run: async argv => {
    const { expect, rest: words } = takeExpect(argv)
    const { word, rest: others } = takeWord(words)
    const { word: server, rest } = takeWord(others)
    const action = ACTIONS.find(each => each === word)
    if (action === undefined) {
      throw new Error(`what about pins? patchbay pins ${ACTIONS.join(' | ')}${word === undefined ? '' : `, and not "${word}"${didYouMean(word, ACTIONS)}`}`)
    }
    if (expect !== undefined && (action !== 'accept' || server === undefined)) {
      throw new Error('--expect is for one server: patchbay pins accept SERVER --expect FINGERPRINT')
    }
    await printAboutServers(rest, async (options, locate, signal, settings) =>
      await managePins(options, { action, server, expect, lockFile: lockFileOf(settings), locate, signal }))
  }
}

/** The value of `--expect`, and the command line without it. */
function takeExpect (argv: string[]): { expect: string | undefined, rest: string[] } {
  const at = argv.findIndex(word => word === '--expect' || word.startsWith('--expect='))
  const given = argv[at]
  if (given === undefined) return { expect: undefined, rest: argv }
  const isSeparate = given === '--expect'
  const expect = isSeparate ? argv[at + 1] : given.slice('--expect='.length)
  if (expect === undefined || !/^[0-9a-f]{32}$/.test(expect)) {
    throw new Error('--expect needs the fingerprint that patchbay pins diff printed: 32 hexadecimal digits')
  }
  return { expect, rest: argv.filter((_, index) => index !== at && !(isSeparate && index === at + 1)) }
}
