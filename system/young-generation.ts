import { setFlagsFromString } from 'node:v8'

const CHOSEN = /semi[-_]space/

/**
 * Lets the room for what is new stay as large as it has become while the program was loaded, some megabytes. V8 would double it for whatever
 * stays, such as sessions and connections, though nothing new lives longer for that; and a smaller one fits into the caches of the
 * processor. It holds for all threads. Whoever starts Node.js with a size of their own has it.
 */
export function keepYoungGeneration (): void {
  const options = [...process.execArgv, process.env['NODE_OPTIONS'] ?? '']
  if (!options.some(option => CHOSEN.test(option))) setFlagsFromString('--semi-space-growth-factor=1')
}
