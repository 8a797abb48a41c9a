import type { FastifyBaseLogger } from 'fastify'
import { explain } from '../explain.js'
import { LoadTimeout } from '../register-plugin.js'
import { TookTooLong } from './attempt.js'
import type { PluginUnit } from './plugin-unit.js'
import { NeedsRestart } from './registration.js'

const CANNOT_REPLACE = 'which cannot be replaced while the gateway runs'

/**
 * Logs why a file is not served, once for each reason, and notes it in the unit, so that it is tried again. `loaded`
 * are the files whose code may be the reason.
 */
export async function reportRefusal (
  log: FastifyBaseLogger,
  unit: PluginUnit,
  error: unknown,
  loaded: string[]
): Promise<void> {
  const { file, refusal, isServed } = unit
  if (error instanceof NeedsRestart) {
    log.warn(`plugin ${file} changed, and needs a restart: it adds ${error.message}, ${CANNOT_REPLACE}`)
    return
  }
  const reason = await explain(error, file, loaded)
  const isFinal = error instanceof TookTooLong || error instanceof LoadTimeout || unit.permanent !== undefined
  unit.refusal = isFinal ? undefined : reason
  if (reason === refusal) return
  const outcome = isServed ? ', so its former code stays' : '; it is left out until it is mended'
  log.error(`plugin ${file} cannot be loaded${outcome}: ${reason}`)
}
