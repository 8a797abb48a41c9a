import { createHash } from 'node:crypto'
import { isUtf8 } from 'node:buffer'

export const TARGETS = ['dispatcher', 'http', 'websocket', 'stdio', 'process', 'principals'] as const
export type TargetName = typeof TARGETS[number]

/**
 * How a conversation begins: with a handshake of that revision, in the stateless one, without either, or at an HTTP
 * address of its own.
 */
export type Opening =
  'none' | '2024-11-05' | '2025-03-26' | '2025-06-18' | '2025-11-25' | '2026-07-28' | 'message' | 'sse'

/** The callers of the target that has two of them. */
export const WHO = ['ada', 'bob'] as const
export type Who = typeof WHO[number]
/** How a caller is connected there; a `ticketed` WebSocket is opened with a ticket and the others with a key. */
export type Line = 'session' | 'modern' | 'message' | 'sse' | 'websocket' | 'ticketed'

/** An HTTP request without its body. `{{session}}` and `{{endpoint}}` stand for what the server gave. */
export interface Head { method: string, path: string, headers: Array<[name: string, value: string]> }

export interface Step {
  bytes: Buffer
  /** The request that carries it, where that is not the one a good client would make. */
  head?: Head
  /** True for bytes of the wire itself, which need not hold a message: WebSocket frames, a whole HTTP request. */
  raw?: true
  /** Who sends it over which connection, where there are two callers. */
  from?: { who: Who, line: Line }
}

/** One conversation, from its first byte to its last: nothing else is needed to have it again. */
export interface Case {
  target: TargetName
  opening: Opening
  steps: Step[]
  /** The answers to questions of the server, one after the other; `{{id}}` stands for the id of the question. */
  answers: Buffer[]
  /** True when nothing is waited for between the steps. */
  burst: boolean
  /** In how many bytes at a time it is written; 0 for all at once. */
  cut: number
}

interface Written { text?: string, base64?: string }
/** A case as it is kept in a file. */
export interface Row extends Omit<Case, 'steps' | 'answers'> {
  why: string
  steps: Array<Written & Omit<Step, 'bytes'>>
  answers: Written[]
}

export function toRow (input: Case, why: string): Row {
  const { target, opening, burst, cut } = input
  return {
    target,
    why,
    opening,
    burst,
    cut,
    steps: input.steps.map(({ bytes, ...rest }) => ({ ...rest, ...written(bytes) })),
    answers: input.answers.map(written)
  }
}

export function fromRow ({ target, opening, burst, cut, steps, answers }: Row): Case {
  return {
    target,
    opening,
    burst,
    cut,
    steps: steps.map(({ text, base64, ...rest }) => ({ ...rest, bytes: read({ text, base64 }) })),
    answers: answers.map(read)
  }
}

/** The same for the same conversation, whyever it is kept. */
export const digest = (input: Case): string =>
  createHash('sha256')
    .update(JSON.stringify(toRow(input, '')))
    .digest('hex')
    .slice(0, 12)

const written = (bytes: Buffer): Written =>
  isUtf8(bytes) ? { text: bytes.toString() } : { base64: bytes.toString('base64') }

const read = ({ text, base64 = '' }: { text?: string | undefined, base64?: string | undefined }): Buffer =>
  text === undefined ? Buffer.from(base64, 'base64') : Buffer.from(text)
