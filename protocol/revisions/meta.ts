import { errors } from '../wire/errors.js'
import { isObject } from '../wire/json.js'
import { isId, type Request } from '../wire/jsonrpc.js'
import { isLogLevel } from '../wire/log-level.js'
import { META } from '../wire/meta.js'

/** Refuses a `_meta` whose known keys do not hold what they must. */
export function checkMeta ({ params, meta }: Request, maxId: number): void {
  if (params._meta === undefined) return
  if (!isObject(params._meta)) throw errors.malformedMeta('_meta must be an object')
  const { progressToken, [META.logLevel]: level } = meta
  if (progressToken !== undefined && !isId(progressToken)) throw errors.malformedMeta('_meta.progressToken must be a string or an integer')
  if (typeof progressToken === 'string' && progressToken.length > maxId) throw errors.malformedMeta(`_meta.progressToken must have at most ${maxId} characters`)
  if (level !== undefined && !isLogLevel(level)) throw errors.malformedMeta(`_meta["${META.logLevel}"] is not a log level`)
}
