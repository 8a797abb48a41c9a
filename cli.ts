#!/usr/bin/env node
import { checkExposure } from './cli/exposure.js'
import { catchHangUp } from './cli/sighup.js'
import { serve } from './cli/serve.js'
import { FLUSH_TIMEOUT } from './cli/shutdown.js'
import { isUp, watchSignals } from './cli/signals.js'
import { resolveOptions, type Options } from './options.js'
import { createKey } from './cli/create-key.js'
import { readSettings } from './cli/settings/read-settings.js'
import { USAGE } from './cli/settings/usage.js'
import { dataFolder } from './system/process/data-folder.js'
import { LogLines } from './system/process/log-lines.js'
import { claimStandardError, STANDARD_ERROR } from './system/process/standard-error.js'
import { version } from './version.js'

/** How long a process waits for a reader of the log after a second signal, in milliseconds. */
const SHORT_FLUSH_TIMEOUT = 200

const logs = new LogLines(STANDARD_ERROR)
claimStandardError(logs)
process.once('exit', () => logs.end(FLUSH_TIMEOUT))
watchSignals(signal => {
  process.stderr.write(`patchbay: second ${signal}, ending at once\n`)
  logs.end(SHORT_FLUSH_TIMEOUT)
})
// Once the gateway is up, the listener of cli/shutdown.ts answers the calls in flight and ends the process.
process.on('uncaughtException', error => { if (!isUp()) fail(error) })

try {
  await main()
} catch (error) {
  fail(error as NodeJS.ErrnoException)
}

function fail (error: NodeJS.ErrnoException): never {
  process.stderr.write(`patchbay: ${describe(error)}\n`)
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

/** Checks and completes the options. Throws a sentence if they cannot be served. */
function complete (given: Partial<Options>): Options {
  const options = withData(resolveOptions(given))
  checkExposure(options)
  return options
}

/** Only the key goes to standard output, so that it can be piped to where it is kept without being displayed. */
function printKey (args: string[]): void {
  const { key, advice } = createKey(args, knownSettings())
  process.stdout.write(`${key}\n`)
  process.stderr.write(advice)
}

/** The options of the environment and its config file; none if they cannot be read, since a key can be made all the same. */
function knownSettings (): Partial<Options> {
  try {
    return resolveOptions(readSettings([], process.env, process.cwd()).options)
  } catch {
    return {}
  }
}

/** Adds the default data folder of the user. */
function withData (options: Options): Options {
  return options.ephemeral || options.data !== undefined ? options : { ...options, data: dataFolder(process.platform, process.env) }
}

function describe ({ code, message, port, address }: NodeJS.ErrnoException & { port?: number, address?: string }): string {
  if (code === 'EADDRINUSE') return `port ${port} on ${address} is in use; choose another with --port or PATCHBAY_PORT`
  if (code === 'EACCES' && port !== undefined) return `port ${port} may not be used by this user; choose another with --port or PATCHBAY_PORT`
  return message.split(/\s*\n\s*/).join('; ')
}
