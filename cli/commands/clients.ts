import { resolveOptions } from '../../options.js'
import { describeClient, stdioEntry } from '../report/clients.js'
import { takeWord } from '../settings/arguments.js'
import { readSettings } from '../settings/read-settings.js'
import type { Command } from './command.js'

/** `patchbay clients`. */
export const command: Command = {
  help: `Usage: patchbay clients [NAME] [OPTION]...

Prints what to put into the configuration of a client, for these options;
without a name, prints the names. The options are those of patchbay serve.

For example: patchbay clients cursor --port 9000
`,
  run: argv => {
    const { word: name, rest } = takeWord(argv)
    const [env, cwd] = [process.env, process.cwd()]
    const { options, args } = readSettings(rest, env, cwd)
    const launch = stdioEntry([process.execPath, process.argv[1] ?? '', ...args], env, cwd)
    process.stdout.write(describeClient(name, resolveOptions(options), launch))
  }
}
