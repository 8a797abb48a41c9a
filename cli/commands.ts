import { visible } from '../lib/one-line.js'
import { didYouMean } from '../lib/nearest-name.js'
import { resolveOptions, type Options } from '../options.js'
import { OptionsError } from '../options/mistakes.js'
import type { Environment } from '../system/environment.js'
import { dataFolder } from '../system/process/data-folder.js'
import type { LogLines } from '../system/process/log-lines.js'
import { withoutPassword } from '../system/redis/url.js'
import { version } from '../version.js'
import { createKey } from './create-key.js'
import { checkExposure } from './exposure.js'
import { check } from './report/check.js'
import { lint } from './report/lint.js'
import type { StdioEntry } from './report/client-snippets.js'
import { describeClient, stdioEntry } from './report/clients.js'
import { describeViews } from './report/views.js'
import { serve } from './serve.js'
import { FLAG_NAMES, readArguments, takeWord } from './settings/arguments.js'
import { npmFlagsWarning } from './settings/parse-arguments.js'
import { readSettings, type Settings } from './settings/read-settings.js'
import { SettingsError } from './settings/source.js'
import { USAGE } from './settings/usage.js'
import { allowExit, guardExit } from './process/exit-guard.js'
import { catchHangUp, expectSignals } from './process/signals.js'
import { claimStandardOutput } from './process/standard-streams.js'

type Command = (argv: string[], logs: LogLines) => void | Promise<void>

const COMMANDS: Record<string, Command> = {
  check: printCheck,
  clients: printClient,
  help: printUsage,
  key: printKey,
  lint: printLint,
  version: () => { process.stdout.write(`${version}\n`) },
  views: printViews
}

/**
 * Runs the command that the first argument names, or serves. Throws a sentence if the arguments or settings are wrong.
 */
export async function runCommand (argv: string[], logs: LogLines): Promise<void> {
  const [word, ...rest] = argv
  if (word === undefined || word.startsWith('-')) return await runFlags(argv, logs)
  const command = Object.hasOwn(COMMANDS, word) ? COMMANDS[word] : undefined
  if (command === undefined) throw new Error(`there is no command "${withoutPassword(word)}"${hintFor(word)}`)
  if (asksForHelp(rest)) printUsage()
  else await command(rest, logs)
}

function hintFor (word: string): string {
  if (/^\d+$/.test(word)) {
    return `; a port is an option: --port ${word}, and npm needs two dashes: npm start -- --port ${word}`
  }
  return didYouMean(word, Object.keys(COMMANDS)) || '; see patchbay help'
}

const asksForHelp = (args: string[]): boolean =>
  args.includes('--help') || args.includes('-h') || (args.length === 1 && args[0] === 'help')

function printUsage (): void {
  process.stdout.write(USAGE)
}

async function runFlags (argv: string[], logs: LogLines): Promise<void> {
  const { help, version: showVersion, check: onlyCheck } = readArguments(argv, process.cwd())
  if (help) printUsage()
  else if (showVersion) process.stdout.write(`${version}\n`)
  else if (onlyCheck) await printCheck(argv)
  else await startServing(argv, logs)
}

async function startServing (argv: string[], logs: LogLines): Promise<void> {
  const onHangUp = catchHangUp()
  const [env, cwd] = [{ ...process.env }, process.cwd()]
  let settings = readSettings(argv, env, cwd)
  const { options, args } = settings
  guardExit()
  const read = (): Options => {
    settings = readSettings(argv, env, cwd)
    return complete(settings.options)
  }
  await serve(complete(options), {
    warning: npmFlagsWarning(FLAG_NAMES, env),
    launch: () => launchOf(args, env, cwd),
    logs,
    onHangUp,
    read,
    file: settings.file,
    locate: error => withPlaces(error, settings)
  })
}

/** The error, with where the options that it is about were set. */
const withPlaces = (error: Error, { locate }: Settings): Error =>
  error instanceof OptionsError ? new SettingsError(locate(error.mistakes)) : error

const launchOf = (args: string[], env: Environment, cwd: string): StdioEntry =>
  stdioEntry([process.execPath, process.argv[1] ?? '', ...args], env, cwd)

/** Checks and completes the options. Throws a sentence if they cannot be served. */
function complete (given: Partial<Options>): Options {
  const options = withData(resolveOptions(given))
  checkExposure(options)
  return options
}

/** Adds the default data folder of the user, where one is used. */
function withData (options: Options): Options {
  return options.redis !== undefined || options.ephemeral || options.data !== undefined
    ? options
    : { ...options, data: dataFolder(process.platform, process.env) }
}

async function printCheck (argv: string[]): Promise<void> {
  const output = claimStandardOutput()
  guardExit()
  const warn = (sentence: string): void => { process.stderr.write(`patchbay: warning: ${visible(sentence)}\n`) }
  let settings: Settings | undefined
  const read = (): Options => {
    settings = readSettings(argv, process.env, process.cwd())
    return withData(resolveOptions(settings.options))
  }
  const { report, mistakes } = await check(
    read,
    error => (settings === undefined ? error : withPlaces(error, settings)),
    warn
  )
  process.stderr.write(mistakes.map(sentence => `patchbay: ${sentence}\n`).join(''))
  output.write(report, () => {
    allowExit()
    // A plugin may have left a timer or a socket behind.
    process.exit(mistakes.length === 0 ? 0 : 1)
  })
}

async function printLint (argv: string[]): Promise<void> {
  const { word: server, rest } = takeWord(argv)
  await printAboutServers(rest, async (options, locate, signal) => await lint(options, { server, locate, signal }))
}

async function printViews (argv: string[]): Promise<void> {
  const { word: name, rest } = takeWord(argv.filter(word => word !== '--json'))
  const json = argv.includes('--json')
  await printAboutServers(
    rest,
    async (options, _locate, signal) => await describeViews(options, { name, json, signal })
  )
}

interface AboutServers { report: string, isIncomplete: boolean }

/**
 * Ends with 0, with 1 when something of a server is missing, and with 128 plus its number after a signal; in each case
 * the servers are stopped first.
 */
async function printAboutServers (
  argv: string[],
  describe: (options: Options, locate: (error: Error) => Error, signal: AbortSignal) => Promise<AboutServers>
): Promise<void> {
  const output = claimStandardOutput()
  const settings = readSettings(argv, process.env, process.cwd())
  const ending = new AbortController()
  let exitCode: number | undefined
  expectSignals()
  process.on('uncaughtException', error => {
    exitCode = 1
    ending.abort(error)
  })
  for (const [signal, code] of [['SIGINT', 130], ['SIGTERM', 143]] as const) {
    process.on(signal, () => {
      exitCode ??= code
      ending.abort()
    })
  }
  const locate = (error: Error): Error => withPlaces(error, settings)
  try {
    const { report, isIncomplete } = await describe(
      withData(resolveOptions(settings.options)),
      locate,
      ending.signal
    )
    output.write(report, () => process.exit(exitCode ?? (isIncomplete ? 1 : 0)))
  } catch (error) {
    if (exitCode !== undefined && exitCode > 1) process.exit(exitCode)
    throw locate(error as Error)
  }
}

function printClient (argv: string[]): void {
  const { word: name, rest } = takeWord(argv)
  const { options, args } = readSettings(rest, process.env, process.cwd())
  process.stdout.write(describeClient(name, resolveOptions(options), launchOf(args, process.env, process.cwd())))
}

/** Only the key goes to standard output, so that it can be piped to where it is kept without being displayed. */
function printKey (args: string[]): void {
  const { key, advice } = createKey(args, knownSettings())
  process.stdout.write(`${key}\n`)
  process.stderr.write(advice)
}

/**
 * The options of the environment and its config file; none if they cannot be read, since a key can be made all the
 * same.
 */
function knownSettings (): Partial<Options> {
  try {
    return resolveOptions(readSettings([], process.env, process.cwd()).options)
  } catch {
    return {}
  }
}
