import { didYouMean } from '../lib/nearest-name.js'
import type { LogLines } from '../system/process/log-lines.js'
import { withoutPassword } from '../system/redis/url.js'
import { version } from '../version.js'
import type { Command } from './commands/command.js'
import { command as serve } from './commands/serve.js'
import { readArguments } from './settings/arguments.js'
import { USAGE } from './settings/usage.js'

/** The commands; each but the first is loaded when it is asked for. `settings/usage.ts` lists them for people. */
const COMMANDS: Record<string, () => Promise<{ command: Command }>> = {
  serve: async () => ({ command: serve }),
  add: async () => await import('./commands/add.js'),
  approvals: async () => await import('./commands/approvals.js'),
  call: async () => await import('./commands/call.js'),
  check: async () => await import('./commands/check.js'),
  clients: async () => await import('./commands/clients.js'),
  doctor: async () => await import('./commands/doctor.js'),
  export: async () => await import('./commands/export.js'),
  import: async () => await import('./commands/import.js'),
  key: async () => await import('./commands/key.js'),
  lint: async () => await import('./commands/lint.js'),
  list: async () => await import('./commands/list.js'),
  login: async () => await import('./commands/login.js'),
  logout: async () => await import('./commands/logout.js'),
  new: async () => await import('./commands/new.js'),
  pins: async () => await import('./commands/pins.js'),
  prompt: async () => await import('./commands/prompt.js'),
  read: async () => await import('./commands/read.js'),
  remove: async () => await import('./commands/remove.js'),
  rules: async () => await import('./commands/rules.js'),
  tools: async () => await import('./commands/tools.js'),
  views: async () => await import('./commands/views.js'),
  watch: async () => await import('./commands/watch.js'),
  completion: async () => await import('./commands/completion.js'),
  help: async () => ({ command: { help: USAGE, run: printHelp } }),
  version: async () => ({ command: { help: 'Usage: patchbay version\n\nPrints the version.\n', run: printVersion } })
}

/** The names of the commands. */
export const COMMAND_NAMES: readonly string[] = Object.keys(COMMANDS)

/** Commands for programs, which no list for people has. */
const HIDDEN: typeof COMMANDS = {
  'complete-words': async () => ({ command: (await import('./commands/complete-words.js')).completeWith(COMMAND_NAMES) })
}

/**
 * Runs the command that the first argument names, or serves. Throws a sentence if the arguments or settings are wrong.
 */
export async function runCommand (argv: string[], logs: LogLines): Promise<void> {
  const [word, ...rest] = argv
  if (word === undefined || word.startsWith('-')) return await runFlags(argv, logs)
  const command = await find(word)
  if (asksForHelp(rest) && command.answersHelp?.(rest) !== true) process.stdout.write(command.help)
  else if (command === serve) await runFlags(rest, logs)
  else await command.run(rest, logs)
}

async function find (word: string): Promise<Command> {
  const table = Object.hasOwn(HIDDEN, word) ? HIDDEN : COMMANDS
  const load = Object.hasOwn(table, word) ? table[word] : undefined
  if (load === undefined) throw new Error(`there is no command "${withoutPassword(word)}"${hintFor(word)}`)
  return (await load()).command
}

function hintFor (word: string): string {
  if (/^\d+$/.test(word)) {
    return `; a port is an option: --port ${word}, and npm needs two dashes: npm start -- --port ${word}`
  }
  return didYouMean(word, COMMAND_NAMES) || '; see patchbay help'
}

/** True where help is asked for before `--`: what follows is the command line of another program. */
function asksForHelp (argv: string[]): boolean {
  const end = argv.indexOf('--')
  const own = end < 0 ? argv : argv.slice(0, end)
  return own.includes('--help') || own.includes('-h') || (own.length === 1 && own[0] === 'help')
}

async function runFlags (argv: string[], logs: LogLines): Promise<void> {
  const { help, version: showsVersion, check } = readArguments(argv, process.cwd())
  if (help) process.stdout.write(USAGE)
  else if (showsVersion) printVersion()
  else await (check ? await find('check') : serve).run(argv, logs)
}

/** Runs `patchbay help [COMMAND]`. */
async function printHelp ([word]: string[]): Promise<void> {
  process.stdout.write(word === undefined ? USAGE : (await find(word)).help)
}

function printVersion (): void {
  process.stdout.write(`${version}\n`)
}
