/**
 * Expectations of a client of one protocol version. Written down here a second time on purpose: the tests do not ask
 * the code they test.
 */
export interface Revision {
  readonly version: string
  /** Every request describes itself; there is no handshake. */
  readonly modern: boolean
  readonly batches: boolean
  /** Audio blocks, tool annotations, the completions capability, messages of progress. */
  readonly audio: boolean
  /** Titles, resource links, structured content, `_meta` on what is listed and shown. */
  readonly titles: boolean
  readonly elicitation: boolean
  readonly icons: boolean
  /** Bad arguments and a tool's `McpError` are results that a model can read. */
  readonly errorsAsResults: boolean
  readonly unknownResource: number
  readonly unknownMethodStatus: number
}

const first: Revision = {
  version: '2024-11-05',
  modern: false,
  batches: true,
  audio: false,
  titles: false,
  elicitation: false,
  icons: false,
  errorsAsResults: false,
  unknownResource: -32002,
  unknownMethodStatus: 200
}
const streamable: Revision = { ...first, version: '2025-03-26', audio: true }
const structured: Revision = { ...streamable, version: '2025-06-18', batches: false, titles: true, elicitation: true }
const current: Revision = { ...structured, version: '2025-11-25', icons: true, errorsAsResults: true }

export const modern: Revision = {
  ...current,
  version: '2026-07-28',
  modern: true,
  unknownResource: -32602,
  unknownMethodStatus: 404
}
export const oldest = first
export const newestLegacy = current

/** Oldest first. */
export const revisions: readonly Revision[] = [first, streamable, structured, current, modern]
