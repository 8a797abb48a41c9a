#!/usr/bin/env node
import { runCommand } from './cli/commands.js'
import { allowExit } from './cli/process/exit-guard.js'
import { checkNode } from './cli/process/node-version.js'
import { FLUSH_TIMEOUT } from './cli/process/shutdown.js'
import { isUp, watchSignals } from './cli/process/signals.js'
import { describeStartError } from './cli/process/start-error.js'
import { LogLines } from './system/process/log-lines.js'
import { claimStandardError, STANDARD_ERROR } from './system/process/standard-error.js'

/** How long a process waits for a reader of the log after a second signal, in milliseconds. */
const SHORT_FLUSH_TIMEOUT = 200

const logs = new LogLines(STANDARD_ERROR)
claimStandardError(logs)
process.once('exit', () => logs.end(FLUSH_TIMEOUT))
watchSignals(signal => {
  process.stderr.write(`patchbay: second ${signal}, ending at once\n`)
  logs.end(SHORT_FLUSH_TIMEOUT)
})
// Once the gateway is up, the listener of cli/process/shutdown.ts answers the calls in flight and ends the process.
// A reader of standard output that has enough, such as `head`, is no failure: the command goes on to its end.
process.on('uncaughtException', error => { if (!isUp() && !isReaderGone(error)) fail(error) })

try {
  checkNode(process.versions.node)
  await runCommand(process.argv.slice(2), logs)
} catch (error) {
  fail(error as Error)
}

function isReaderGone (error: Error): boolean {
  const { code, syscall } = error as NodeJS.ErrnoException
  return code === 'EPIPE' && syscall === 'write'
}

function fail (error: Error): never {
  allowExit()
  process.stderr.write(
    describeStartError(error, process.argv.includes('--stdio'))
      .map(sentence => `patchbay: ${sentence}\n`)
      .join('')
  )
  process.exit(1)
}
