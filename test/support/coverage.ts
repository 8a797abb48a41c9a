import processOnSpawn from 'process-on-spawn'

/**
 * Keeps the test runner out of the processes that tests start: with what it loads into them, a start of the command takes five times the CPU, and
 * what only they run is 2 % of the lines, which no coverage counts then.
 */
export function measureThisProcessOnly (): void {
  processOnSpawn.removeAllListeners()
  delete process.env['NODE_OPTIONS']
}
