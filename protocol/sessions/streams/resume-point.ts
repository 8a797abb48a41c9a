import type { ResumableStream } from './resumable-stream.js'

/** Where a client resumes, from its `Last-Event-ID`. */
export interface ResumePoint { stream: ResumableStream, after: number }

/** The stream and the number that the id of an event names; undefined if it is none of ours. */
export function parseEventId (eventId: string): { key: string, number: number } | undefined {
  const [, key, number] = /^([0-9a-f]{1,12})-(\d{1,15})$/.exec(eventId) ?? []
  return key === undefined ? undefined : { key, number: Number(number) }
}
