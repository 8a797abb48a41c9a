import type { Call } from '../../protocol/dispatch/call.js'
import { namingCall } from '../../protocol/questions/named-call.js'
import type { Params } from '../../protocol/wire/jsonrpc.js'
import { atLeast, isLogLevel } from '../../protocol/wire/log-level.js'
import { withoutReservedMeta } from './relayed-params.js'

/** Passes progress of an upstream on to the client, under the token of the client; extends the deadline of the call. */
export function forwardProgress (call: Call, { progress, total, message }: Params): void {
  if (typeof progress !== 'number') return
  call.progress(
    progress,
    typeof total === 'number' ? total : undefined,
    typeof message === 'string' ? message : undefined
  )
}

/** Passes a log message of an upstream on to the client, if the client wants its level. */
export function forwardLog (call: Call, params: Params): void {
  const { level } = params
  if (!isLogLevel(level) || call.logLevel === undefined || !atLeast(level, call.logLevel)) return
  call.notify('notifications/message', namingCall(withoutReservedMeta(params), call))
}
