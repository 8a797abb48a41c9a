import { fileInLoading } from '../../loader/register-plugin.js'

let guarded = false

/**
 * From now on, an end of the process that `allowExit` did not announce is a mistake: a sentence says so, and the exit
 * code is 1.
 */
export function guardExit (): void {
  guarded = true
  // Before the listener that writes the rest of the log.
  process.prependOnceListener('exit', () => {
    if (!guarded) return
    const file = fileInLoading()
    process.stderr.write(
      `patchbay: a plugin ended the process before the gateway was ready${file === undefined ? '' : `; it was loading ${file}`}; remove process.exit() from it\n`
    )
    process.exitCode = 1
  })
}

/** The process may end now. */
export function allowExit (): void {
  guarded = false
}
