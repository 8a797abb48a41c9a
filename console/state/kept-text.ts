import type { Json, LogEntry } from '../client/contract.js'

/**
 * The beginning of a text, with memory of its own: a slice would keep the whole text alive. Never cut inside a
 * character.
 */
export function shorten (text: string, max: number): string {
  if (text.length <= max) return text
  const cut = text.slice(0, max)
  return JSON.parse(JSON.stringify(/[\uD800-\uDBFF]$/.test(cut) ? cut.slice(0, -1) : cut)) as string
}

/** More characters of one line are not kept. */
export const MAX_LINE = 2_000

/** One message of a call's log, as text. */
export interface LogLine { level: string, logger?: string, text: string }

const MAX_NAME = 200

export function logLineOf ({ level, logger, data }: LogEntry): LogLine {
  const text = shorten(typeof data === 'string' ? data : JSON.stringify(data), MAX_LINE)
  return {
    level: shorten(level, MAX_NAME),
    text,
    ...(logger === undefined ? {} : { logger: shorten(logger, MAX_NAME) })
  }
}

/** Counted for each value besides its text, so that many small ones count, too. */
const EACH = 8

/** About how many characters a value takes, found without writing it as text. */
export function sizeOf (value: Json): number {
  let size = 0
  const left: Json[] = [value]
  for (let part = left.pop(); part !== undefined; part = left.pop()) {
    size += EACH
    if (typeof part === 'string') size += part.length
    else if (Array.isArray(part)) for (const item of part) left.push(item)
    else if (typeof part === 'object' && part !== null) {
      for (const name of Object.keys(part)) {
        size += name.length
        left.push(part[name] ?? null)
      }
    }
  }
  return size
}
