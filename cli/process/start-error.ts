import { oneLine, visible } from '../../lib/one-line.js'
import { OptionsError } from '../../options/mistakes.js'
import { SettingsError } from '../settings/source.js'

/** The longest sentence, in characters. */
const MAX_SENTENCE = 10_000

type StartError = NodeJS.ErrnoException & { port?: number, address?: string }

/** Says what kept the command from starting, one sentence for each mistake. */
export function describeStartError (error: Error, stdio: boolean): string[] {
  const sentences =
    error instanceof SettingsError
      ? error.mistakes
      : error instanceof OptionsError
        ? error.mistakes.map(({ text }) => text)
        : [describe(error, stdio)]
  // A terminal would obey the control characters in the message of a plugin.
  return sentences.map(sentence => oneLine(visible(sentence.slice(0, MAX_SENTENCE)), MAX_SENTENCE))
}

function describe ({ code, message, port, address }: StartError, stdio: boolean): string {
  if (code === 'EADDRINUSE' && port !== undefined) {
    return `port ${port} on ${address} is in use; choose another with --port or PATCHBAY_PORT${stdio ? SECOND : ''}`
  }
  if (code === 'EACCES' && port !== undefined) {
    return `port ${port} may not be used by this user; choose another with --port or PATCHBAY_PORT`
  }
  if (code === 'FST_ERR_PLUGIN_TIMEOUT') {
    return 'the start took too long and was given up; if a warning above names a plugin that is waited for, mend that, otherwise the machine is too busy: try again'
  }
  return message.split(/\s*\n\s*/).join('; ')
}

const SECOND = '; if two clients launch this command, give each its own port, or only --stdio'
