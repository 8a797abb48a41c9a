import { existsSync } from 'node:fs'
import { visible } from '../../lib/one-line.js'
import { resolveOptions, type Options } from '../../options.js'
import { lockFileOf } from '../places.js'
import { allowExit, guardExit } from '../process/exit-guard.js'
import { claimStandardOutput } from '../process/standard-streams.js'
import { check } from '../report/check.js'
import { readSettings, withData, withPlaces, type Settings } from '../settings/read-settings.js'
import type { Command } from './command.js'

/** `patchbay check` and `patchbay --check`. */
export const command: Command = {
  help: `Usage: patchbay check [OPTION]...

Loads config, keys and plugins, prints what would be served, or every mistake,
and ends: with 0 if it could be served, with 1 if not. Nothing is listened on,
and no server is started. The options are those of patchbay serve.

For example: patchbay check --config patchbay.json
`,
  run: async argv => {
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
    mistakes.push(...await lockMistakes(settings))
    process.stderr.write(mistakes.map(sentence => `patchbay: ${sentence}\n`).join(''))
    output.write(report, () => {
      allowExit()
      // A plugin may have left a timer or a socket behind.
      process.exit(mistakes.length === 0 ? 0 : 1)
    })
  }
}

/** The mistakes in the lock beside the config file, which only a gateway with option pins would read. */
async function lockMistakes (settings: Settings | undefined): Promise<string[]> {
  const file = settings === undefined ? undefined : lockFileOf(settings)
  if (file === undefined || !existsSync(file)) return []
  const { readAccepted } = await import('../../upstreams/pins/accepted.js')
  return await readAccepted({ file }).then(() => [], (error: Error) => [visible(error.message)])
}
