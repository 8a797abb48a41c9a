#!/usr/bin/env node
import { checkExposure } from './cli/exposure.js'
import { catchHangUp } from './cli/hang-up.js'
import { serve } from './cli/serve.js'
import { LAST_WORD } from './cli/shutdown.js'
import { isUp, watchSignals } from './cli/signals.js'
import { resolveOptions, type Options } from './options.js'
import { newKey } from './cli/create-key.js'
import { readSettings, USAGE } from './cli/settings.js'
import { dataFolder } from './system/process/data-folder.js'
import { LogLines } from './system/process/log-lines.js'
import { claimStandardError, STANDARD_ERROR } from './system/process/standard-error.js'
import { version } from './version.js'

/** How long a process that is told twice to end waits for a reader, in milliseconds. */
const IN_HASTE = 200

const logs = new LogLines(STANDARD_ERROR)
claimStandardError(logs)
process.once('exit', () => logs.end(LAST_WORD))
watchSignals(signal => {
  process.stderr.write(`patchbay: second ${signal}, ending at once\n`)
  logs.end(IN_HASTE)
})
// Once the gateway is up, the listener of cli/shutdown.ts answers what is in flight and ends the process.
process.on('uncaughtException', error => { if (!isUp()) fail(error) })

try {
  await main()
} catch (error) {
  fail(error as NodeJS.ErrnoException)
}

function fail (error: NodeJS.ErrnoException): never {
  process.stderr.write(`patchbay: ${explain(error)}\n`)
  process.exit(1)
}

async function main (): Promise<void> {
  if (process.argv[2] === 'key') return printKey(process.argv.slice(3))
  const onHangUp = catchHangUp()
  const [argv, env, cwd] = [process.argv.slice(2), { ...process.env }, process.cwd()]
  const { options: given, args, help, version: showVersion } = readSettings(argv, env, cwd)
  if (help || showVersion) {
    process.stdout.write(help ? USAGE : `${version}\n`)
    return
  }
  const launch = [process.execPath, process.argv[1] ?? '', ...args]
  await serve(complete(given), { launch, logs, onHangUp, read: () => complete(readSettings(argv, env, cwd).options) })
}

/** The options as they are served. Throws a sentence when they are not fit for that. */
function complete (given: Partial<Options>): Options {
  const options = withData(resolveOptions(given))
  checkExposure(options)
  return options
}

/** The key alone goes to standard output, so that it can be put where it belongs without having been seen. */
function printKey (args: string[]): void {
  const { key, advice } = newKey(args, knownSettings())
  process.stdout.write(`${key}\n`)
  process.stderr.write(advice)
}

/** What the environment and its config file say; nothing when they cannot be read, which is no reason not to make a key. */
function knownSettings (): Partial<Options> {
  try {
    return resolveOptions(readSettings([], process.env, process.cwd()).options)
  } catch {
    return {}
  }
}

/** Where things are kept unless somebody says otherwise. */
function withData (options: Options): Options {
  return options.ephemeral || options.data !== undefined ? options : { ...options, data: dataFolder(process.platform, process.env) }
}

function explain ({ code, message, port, address }: NodeJS.ErrnoException & { port?: number, address?: string }): string {
  if (code === 'EADDRINUSE') return `port ${port} on ${address} is in use; choose another with --port or PATCHBAY_PORT`
  if (code === 'EACCES' && port !== undefined) return `port ${port} may not be used by this user; choose another with --port or PATCHBAY_PORT`
  return message.split(/\s*\n\s*/).join('; ')
}
