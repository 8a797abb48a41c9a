import type { Era } from '../support/messages.js'
import type { Case, Opening, TargetName } from './case.js'

export const MODERN = '2026-07-28'
/** The revisions that have a handshake. */
export const REVISIONS = ['2024-11-05', '2025-03-26', '2025-06-18', '2025-11-25'] as const

const OPENINGS: Opening[] = ['none', ...REVISIONS, '2025-11-25', MODERN, MODERN]

/** The ways into each target. A real process has one client for its whole life, which has shaken hands. */
export const openingsOf: Record<TargetName, Opening[]> = {
  dispatcher: [...OPENINGS, 'message'],
  http: [...OPENINGS, 'message', 'message', 'sse'],
  websocket: OPENINGS,
  stdio: OPENINGS,
  process: ['2025-11-25'],
  principals: [...REVISIONS]
}

export const eraOf = (opening: Opening): Era => opening === MODERN ? 'modern' : 'legacy'

/** The revision a conversation begins in; the first where none was named. */
export const versionOf = (opening: Opening): string =>
  opening === 'message' || opening === 'sse' ? '2024-11-05' : opening === 'none' ? '2025-11-25' : opening

/**
 * Revisions that it may be answered in while nothing else is agreed: only a header names the revision of messages that
 * do not.
 */
export const versionsOf = ({ target, opening }: Pick<Case, 'target' | 'opening'>): string[] =>
  opening === MODERN && target !== 'http' ? [MODERN, '2025-11-25'] : [versionOf(opening)]

/** True for an opening where a client makes a handshake first. */
export const startsWithHandshake = (opening: Opening): boolean => (REVISIONS as readonly string[]).includes(opening)
