/** The eight levels of RFC 5424, mildest first. */
export const LEVELS = ['debug', 'info', 'notice', 'warning', 'error', 'critical', 'alert', 'emergency'] as const

export type LogLevel = typeof LEVELS[number]

export const isLogLevel = (value: unknown): value is LogLevel => (LEVELS as readonly unknown[]).includes(value)

export const atLeast = (level: LogLevel, floor: LogLevel): boolean => LEVELS.indexOf(level) >= LEVELS.indexOf(floor)
