import { homedir } from 'node:os'

/** The variables of a process, such as `process.env`. */
export type Environment = Readonly<Record<string, string | undefined>>

/**
 * Environment, home and working directory: variables and relative paths in the configuration of this process refer to
 * them.
 */
export function processSurroundings (): { env: Environment, home: string | undefined, cwd: string } {
  return { env: process.env, home: homeFolder(), cwd: process.cwd() }
}

/** The home folder of the user; undefined when there is none. */
export function homeFolder (): string | undefined {
  try {
    return homedir()
  } catch {
    return undefined
  }
}
