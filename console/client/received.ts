/** Makes what a server sent into what the contract declares: upstream servers may leave out any member, or send another type. */
import { RpcError, type JsonObject, type LogEntry, type Progress } from './contract.js'

/** Undefined where the progress is no number. */
export function progressOf ({ progress, total, message }: JsonObject): Progress | undefined {
  if (!isNumber(progress)) return undefined
  return { progress, ...(isNumber(total) ? { total } : {}), ...(typeof message === 'string' ? { message } : {}) }
}

export function logEntryOf ({ level, logger, data = '' }: JsonObject): LogEntry {
  return { level: typeof level === 'string' ? level : 'unknown', data, ...(typeof logger === 'string' ? { logger } : {}) }
}

export function rpcErrorOf ({ code, message, data }: JsonObject): RpcError {
  return new RpcError(isNumber(code) ? code : 0, typeof message === 'string' ? message : 'the server gave no reason', data)
}

/** JSON has numbers that are too large to be finite here. */
const isNumber = (value: unknown): value is number => Number.isFinite(value)
