import { resolveOptions, type Options } from '../../options.js'
import { checkExposure } from '../exposure.js'
import { guardExit } from '../process/exit-guard.js'
import { catchHangUp } from '../process/signals.js'
import { stdioEntry } from '../report/clients.js'
import { serve } from '../serve.js'
import { FLAG_NAMES } from '../settings/arguments.js'
import { npmFlagsWarning } from '../settings/parse-arguments.js'
import { readSettings, withData, withPlaces } from '../settings/read-settings.js'
import { SERVE_HELP } from '../settings/usage.js'
import type { Command } from './command.js'

/** `patchbay serve`, and `patchbay` without a command. */
export const command: Command = {
  help: SERVE_HELP,
  run: async (argv, logs) => {
    const onHangUp = catchHangUp()
    const [env, cwd] = [{ ...process.env }, process.cwd()]
    let settings = readSettings(argv, env, cwd)
    const { options, args } = settings
    guardExit()
    const read = (): Options => {
      // A file that is gone for a moment does not end its servers.
      settings = readSettings(argv, env, cwd, settings.isRead ? 'needed' : 'if there')
      return complete(settings.options)
    }
    await serve(complete(options), {
      warning: npmFlagsWarning(FLAG_NAMES, env),
      launch: () => stdioEntry([process.execPath, process.argv[1] ?? '', ...args], env, cwd),
      logs,
      onHangUp,
      read,
      file: settings.file,
      isFileRead: settings.isRead,
      locate: error => withPlaces(error, settings)
    })
  }
}

/** Checks and completes the options. Throws a sentence if they cannot be served. */
function complete (given: Partial<Options>): Options {
  const options = withData(resolveOptions(given))
  checkExposure(options)
  return options
}
