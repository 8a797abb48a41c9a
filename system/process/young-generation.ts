import { getHeapSpaceStatistics, setFlagsFromString } from 'node:v8'

const CHOSEN = /semi[-_]space/
const LOOK_MS = 1_000

/**
 * Keeps the room for what is new from growing beyond what it has become while the program was loaded, some megabytes. V8 would double it for
 * whatever stays, such as sessions and connections, though nothing new lives longer for that; and a smaller one fits into the caches of
 * the processor. Messages of a hundred kilobytes and more would be served by a larger one, so this is a choice for many clients and small
 * messages. V8 makes it smaller when there is little to do, and may make it as large again. Whoever starts Node.js with a size of their
 * own has it.
 */
export function boundYoungGeneration (): void {
  const options = [...process.execArgv, process.env['NODE_OPTIONS'] ?? '']
  if (options.some(option => CHOSEN.test(option))) return
  const most = room()
  let bound = false
  const look = () => {
    if ((room() >= most) === bound) return
    bound = !bound
    setFlagsFromString(`--semi-space-growth-factor=${bound ? 1 : 2}`)
  }
  look()
  setInterval(look, LOOK_MS).unref()
}

/** In bytes. */
const room = (): number => getHeapSpaceStatistics().find(({ space_name: name }) => name === 'new_space')?.space_size ?? 0
