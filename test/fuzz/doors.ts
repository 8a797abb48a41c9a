import type { Era } from '../support/messages.js'
import type { Case, Door, TargetName } from './case.js'

export const MODERN = '2026-07-28'
/** The revisions that have a handshake. */
export const REVISIONS = ['2024-11-05', '2025-03-26', '2025-06-18', '2025-11-25'] as const

const DOORS: Door[] = ['none', ...REVISIONS, '2025-11-25', MODERN, MODERN]

/** The ways into each target. A real process has one client for its whole life, which has shaken hands. */
export const doorsOf: Record<TargetName, Door[]> = {
  dispatcher: [...DOORS, 'message'],
  http: [...DOORS, 'message', 'message', 'sse'],
  websocket: DOORS,
  stdio: DOORS,
  process: ['2025-11-25'],
  principals: [...REVISIONS]
}

export const eraOf = (door: Door): Era => door === MODERN ? 'modern' : 'legacy'

/** The revision a conversation begins in; the first where nobody said. */
export const versionOf = (door: Door): string => door === 'message' || door === 'sse' ? '2024-11-05' : door === 'none' ? '2025-11-25' : door

/** Those it may be answered in while nothing else is agreed: only a header says so of messages that do not say it themselves. */
export const versionsOf = ({ target, door }: Pick<Case, 'target' | 'door'>): string[] => door === MODERN && target !== 'http' ? [MODERN, '2025-11-25'] : [versionOf(door)]

/** True for a door where a client shakes hands before it says anything. */
export const greets = (door: Door): boolean => (REVISIONS as readonly string[]).includes(door)
