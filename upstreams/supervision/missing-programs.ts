import { childEnvironment } from '../../system/programs/server/child-environment.js'
import { findProgram } from '../../system/programs/server/find-program.js'
import { redactor } from '../secrets.js'
import type { ServerEntry } from '../server-entry.js'

/** The upstream servers whose program cannot be started, by alias, and why. Nothing is started. */
export function missingPrograms (entries: readonly ServerEntry[], proxies: boolean): Array<[alias: string, why: string]> {
  return entries.flatMap(entry => {
    const { alias, address, disabled } = entry
    if (disabled || address.kind !== 'stdio') return []
    try {
      findProgram({ ...address, env: { ...childEnvironment(proxies), ...address.env } })
      return []
    } catch (error) {
      return [[alias, redactor(entry)((error as Error).message)]]
    }
  })
}
