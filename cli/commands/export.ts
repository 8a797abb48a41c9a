import { isatty } from 'node:tty'
import { homeFolder } from '../../system/environment.js'
import { readArguments, takeWord } from '../settings/arguments.js'
import { readSettings } from '../settings/read-settings.js'
import type { Command } from './command.js'

/** `patchbay export`. */
export const command: Command = {
  help: `Usage: patchbay export CLIENT [--write | --undo] [--file FILE] [OPTION]...

Puts one entry that launches Patchbay in place of the servers that Patchbay
serves, in the configuration file of a client; prints what would change unless
--write is given. Servers that Patchbay does not serve, comments and all other
settings stay as they are. The clients are those of patchbay import; the options
are those of patchbay serve, for the gateway that the client launches.

  --write         write the file; the former one stays beside it
  --undo          restore the file, if nothing else changed it since
  --file FILE     this file, such as that of a project, in place of the one of
                  the user

For example: patchbay export claude-desktop --write
`,
  run: async argv => {
    const { exportServers, undoExport } = await import('../move/export-servers.js')
    const { file, rest: withoutFile } = takeFile(argv)
    const { word: client, rest } = takeWord(withoutFile.filter(word => word !== '--write' && word !== '--undo'))
    if (client === undefined) throw new Error('the client is missing: patchbay export CLIENT, such as cursor')
    const [env, cwd] = [process.env, process.cwd()]
    const common = {
      client,
      file,
      machine: { platform: process.platform, env, home: homeFolder(), cwd },
      terminal: isatty(1),
      print: (text: string) => { process.stdout.write(text) }
    }
    if (argv.includes('--undo')) {
      await undoExport(common)
      return
    }
    const { args } = readSettings(rest, env, cwd)
    await exportServers({
      ...common,
      config: readArguments(rest, cwd).config,
      command: [process.execPath, process.argv[1] ?? '', ...args],
      write: argv.includes('--write')
    })
  }
}

/** The value of `--file`, and the command line without it. */
function takeFile (argv: string[]): { file: string | undefined, rest: string[] } {
  const at = argv.findIndex(word => word === '--file' || word.startsWith('--file='))
  if (at < 0) return { file: undefined, rest: argv }
  const isJoined = argv[at] !== '--file'
  const file = isJoined ? argv[at]?.slice('--file='.length) : argv[at + 1]
  if (file === undefined || file === '') throw new Error('--file needs the path of a file')
  return { file, rest: argv.filter((_, index) => index !== at && (isJoined || index !== at + 1)) }
}
