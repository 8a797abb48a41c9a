import { cutTo } from '../../lib/one-line.js'
import type { Implementation } from '../revisions/revision.js'

const MAX_NAME = 256
const MEMBERS = ['name', 'version', 'title'] as const

/** Keeps the name, version and title of a client, each cut to a length that can be shown, and drops the rest. */
export function shortenClientInfo (declared: Record<string, unknown> | undefined): Implementation | undefined {
  if (declared === undefined) return undefined
  const kept: Record<string, string> = {}
  for (const member of MEMBERS) {
    const text = declared[member]
    if (typeof text === 'string') kept[member] = cutTo(text, MAX_NAME)
  }
  return kept as unknown as Implementation
}
