import type { Implementation } from '../revisions/revision.js'

const MAX_NAME = 256
const MEMBERS = ['name', 'version', 'title'] as const

/** Keeps the name, version and title of a client, each cut to a length that can be shown, and drops the rest. */
export function shortenClientInfo (declared: Record<string, unknown> | undefined): Implementation | undefined {
  if (declared === undefined) return undefined
  const kept: Record<string, string> = {}
  for (const member of MEMBERS) {
    const text = declared[member]
    if (typeof text === 'string') kept[member] = text.length > MAX_NAME ? copySlice(text.slice(0, MAX_NAME)) : text
  }
  return kept as unknown as Implementation
}

/** Text of its own: a slice keeps all of what it was cut from. */
const copySlice = (slice: string): string => Buffer.from(slice).toString()
