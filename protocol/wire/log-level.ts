import { inspect } from 'node:util'

/** The eight levels of RFC 5424, mildest first. */
export const LEVELS = ['debug', 'info', 'notice', 'warning', 'error', 'critical', 'alert', 'emergency'] as const

export type LogLevel = typeof LEVELS[number]

export const isLogLevel = (value: unknown): value is LogLevel => (LEVELS as readonly unknown[]).includes(value)

export const atLeast = (level: LogLevel, floor: LogLevel): boolean => LEVELS.indexOf(level) >= LEVELS.indexOf(floor)

/**
 * Makes a value that JSON can write: others are put into words, because a log line must not fail the call that writes
 * it.
 */
export function loggable (data: unknown): unknown {
  if (data instanceof Error) return data.message
  try {
    return JSON.stringify(data) === undefined ? inspect(data) : data
  } catch {
    return inspect(data)
  }
}
