import { resolveOptions } from '../../options.js'
import { allowExit, guardExit } from '../process/exit-guard.js'
import { describeStartError } from '../process/start-error.js'
import { claimStandardOutput } from '../process/standard-streams.js'
import { describeMistake, examine, type Examined } from '../doctor/examine.js'
import { exitCodeOf } from '../doctor/finding.js'
import { examineNode } from '../doctor/machine.js'
import { toJson, toText } from '../doctor/print.js'
import { takeWord } from '../settings/arguments.js'
import { parseOrHint } from '../settings/parse-arguments.js'
import { readSettings, withData, withPlaces, type Settings } from '../settings/read-settings.js'
import { SettingsError } from '../settings/source.js'
import { endBySignals } from './about-servers.js'
import type { Command } from './command.js'

/** How long each server may take, in seconds. */
const TIMEOUT = 60

/** `patchbay doctor`. */
export const command: Command = {
  help: `Usage: patchbay doctor [SERVER] [--json] [--timeout SECONDS] [OPTION]...

Looks at Node.js, the config, the data folder, the port, Redis, the clock and
the clipboard, starts or reaches each upstream server, or the one that is named,
stops them, and prints what it found and what to do. A server may take
--timeout SECONDS (${TIMEOUT}). --json prints JSON. The options are those of patchbay
serve. Nothing is listened on, and nothing is changed.

Ends with 0 if all is well, with 10 if there are warnings, with 11 if a server
is down, and with 12 if all servers are, or the gateway would not start.

For example: patchbay doctor --mcp-config .mcp.json
`,
  run: async argv => {
    const { json, limit, rest } = readFlags(argv)
    const { word: server, rest: options } = takeWord(rest)
    const output = claimStandardOutput()
    const { signal, exitCode, leave } = endBySignals()
    // A plugin may end the process while it is loaded.
    guardExit()
    let examined: Examined
    try {
      examined = await diagnose(options, { server, limit, signal })
    } catch (error) {
      allowExit()
      return leave(error as Error)
    }
    output.write(json ? toJson(examined) : toText(examined), () => {
      allowExit()
      process.exit(exitCode() ?? exitCodeOf(examined))
    })
  }
}

/** Settings that cannot be read are a finding; everything else depends on them. */
async function diagnose (
  argv: string[],
  wanted: { server: string | undefined, limit: number, signal: AbortSignal }
): Promise<Examined> {
  let settings: Settings
  try {
    settings = readSettings(argv, process.env, process.cwd())
  } catch (error) {
    if (!(error instanceof SettingsError)) throw error
    const mistakes = describeStartError(error, false)
    return {
      findings: [
        examineNode(),
        ...mistakes.map(sentence => describeMistake(sentence, 'broken')),
        { part: 'other', level: 'note', text: 'nothing else was examined, because the options cannot be read' }
      ],
      servers: [],
      areAllDown: false
    }
  }
  const locate = (error: Error): Error => withPlaces(error, settings)
  return await examine(withData(resolveOptions(settings.options)), { ...wanted, locate })
}

/** The flags of this command, and the command line without them. */
function readFlags (argv: string[]): { json: boolean, limit: number, rest: string[] } {
  const at = argv.findIndex(word => word === '--timeout' || word.startsWith('--timeout='))
  const isSeparate = argv[at] === '--timeout'
  const own = at < 0 ? [] : argv.slice(at, at + (isSeparate ? 2 : 1))
  const { values: { timeout = String(TIMEOUT) } } = parseOrHint({ args: own, options: { timeout: { type: 'string' } } })
  const seconds = Number(timeout)
  if (!Number.isFinite(seconds) || seconds <= 0 || seconds > 3_600) {
    throw new Error(`--timeout must be a number of seconds between 0 and 3600, not "${timeout}"`)
  }
  const rest = argv.filter((word, index) => word !== '--json' && (at < 0 || index < at || index >= at + own.length))
  return { json: argv.includes('--json'), limit: seconds * 1_000, rest }
}
