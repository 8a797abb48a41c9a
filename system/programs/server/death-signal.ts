import { execFile } from 'node:child_process'
import { lookUp } from '../executable.js'

let tried: Promise<string[]> | undefined

/**
 * What is put before a program so that the kernel kills it when this process ends, however it ends: `setpriv` of util-linux. Empty on other
 * systems, and where `setpriv` cannot do it. It costs about half a millisecond for each start.
 */
export async function deathSignalPrefix (): Promise<string[]> {
  return await (tried ??= process.platform === 'linux' ? trySetpriv() : Promise.resolve([]))
}

async function trySetpriv (): Promise<string[]> {
  const path = lookUp('setpriv')
  if (path === undefined) return []
  const prefix = [path, '--pdeathsig', 'KILL', '--']
  return await new Promise(resolve => {
    // The one of BusyBox does not know the option.
    execFile(path, [...prefix.slice(1), path, '--version'], { timeout: 5_000 }, error => resolve(error === null ? prefix : []))
  })
}
