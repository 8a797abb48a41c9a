import { resolve } from 'node:path'
import type { Environment } from '../../environment.js'
import { isExecutable, isFolder, lookUp } from '../executable.js'

export interface Wanted {
  /** A name on the PATH of `env`, or a path, which may be relative to `cwd`. */
  command: string
  env: Environment
  /** The working directory of this process when absent. */
  cwd: string | undefined
}

/** The path of a program that can be started. Throws a sentence that says what to do when there is none. */
export function findProgram ({ command, env, cwd }: Wanted, platform: string = process.platform): string {
  if (cwd !== undefined && !isFolder(cwd)) {
    throw new Error(`its folder ${cwd} is not there, or may not be entered; correct cwd`)
  }
  const names = [command, ...extensions(env, platform).map(extension => command + extension)]
  const isPath =
    (/\//.test(command) && !/^[A-Za-z]:\//.test(command)) || (platform === 'win32' && /[\\:]/.test(command))
  if (isPath) return executableAt(names.map(name => resolve(cwd ?? '.', name)))
  const search = variable(env, 'PATH', platform) ?? ''
  // On Windows, npx without an extension is a script for other systems.
  const found = (names.length > 1 ? [...names.slice(1), command] : names)
    .map(name => lookUp(name, search))
    .find(path => path !== undefined)
  if (found !== undefined) return found
  if (platform !== 'win32' && /^[A-Za-z]:[\\/]/.test(command)) {
    throw new Error(
      `${command} is a path of Windows, and this is not Windows; write the program of this system, such as npx`
    )
  }
  if (platform !== 'win32' && /^cmd(\.exe)?$/i.test(command)) {
    throw new Error(
      `${command} is a program of Windows; leave ${command} and /c out: command is what comes after them, such as npx`
    )
  }
  const advice = /\s/.test(command)
    ? 'command is the program alone: put its arguments into args'
    : 'write the whole path of the program as its command, or set PATH in its env'
  throw new Error(`${command} is not on PATH; ${advice} (PATH is ${search})`)
}

function executableAt (paths: string[]): string {
  const found = paths.find(isExecutable)
  if (found === undefined) {
    throw new Error(
      `${paths[0]} is not there, or is no file that this user may execute; correct command${/\s/.test(paths[0] ?? '') ? ', and put its arguments, if it has any, into args' : ''}`
    )
  }
  return found
}

function extensions (env: Environment, platform: string): string[] {
  return platform === 'win32'
    ? (variable(env, 'PATHEXT', platform) ?? '.COM;.EXE;.BAT;.CMD').split(';').filter(extension => extension !== '')
    : []
}

/** Windows does not distinguish case in the names of variables. */
function variable (env: Environment, name: string, platform: string): string | undefined {
  if (platform !== 'win32') return env[name]
  return Object.entries(env).find(([key]) => key.toUpperCase() === name)?.[1]
}
