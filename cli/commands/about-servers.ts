import { resolveOptions, type Options } from '../../options.js'
import { expectSignals } from '../process/signals.js'
import { claimStandardOutput } from '../process/standard-streams.js'
import { readSettings, withData, withPlaces, type Settings } from '../settings/read-settings.js'

/** A report for people; incomplete where something of a server is missing. */
interface AboutServers { report: string, isIncomplete: boolean }

/**
 * Prints a report about the servers of the options. Ends the process with 0, with 1 when something of a server is
 * missing, and with 128 plus its number after a signal; in each case the servers are stopped first.
 */
export async function printAboutServers (
  argv: string[],
  describe: (
    options: Options,
    locate: (error: Error) => Error,
    signal: AbortSignal,
    settings: Settings
  ) => Promise<AboutServers>
): Promise<void> {
  const output = claimStandardOutput()
  const settings = readSettings(argv, process.env, process.cwd())
  const { signal, exitCode, leave } = endBySignals()
  const locate = (error: Error): Error => withPlaces(error, settings)
  try {
    const { report, isIncomplete } = await describe(
      withData(resolveOptions(settings.options)),
      locate,
      signal,
      settings
    )
    output.write(report, () => process.exit(exitCode() ?? (isIncomplete ? 1 : 0)))
  } catch (error) {
    leave(locate(error as Error))
  }
}

interface Ending {
  /** Aborts when a signal asks for the end, or an error that nothing catches does. */
  signal: AbortSignal
  /** The exit code that it asks for; undefined as long as nothing does. */
  exitCode: () => number | undefined
  /** Ends the process if a signal asked for it; throws the error otherwise. */
  leave: (error: Error) => never
}

/** From now on signals do not end the process, so that what was started can be stopped. */
export function endBySignals (): Ending {
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
  return {
    signal: ending.signal,
    exitCode: () => exitCode,
    leave: error => {
      if (exitCode !== undefined && exitCode > 1) process.exit(exitCode)
      throw error
    }
  }
}
