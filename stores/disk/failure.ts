import { errors } from '../../protocol/wire/errors.js'

interface Failure extends Error { code?: string, errcode?: number, systemErrno?: number }

const ENOSPC = 28
const BUSY = 5
const FULL = 'the disk is full, or the data file is as large as option maxData allows'
const DAMAGED = 'the data file is damaged: restore a copy of it or delete it'

const SQLITE_MESSAGES: Record<number, string> = {
  5: 'another process keeps the data file locked',
  8: 'the data file may not be written',
  10: 'the disk reports an error',
  11: DAMAGED,
  13: FULL,
  14: 'the data file cannot be opened',
  26: DAMAGED
}

const FILE_MESSAGES: Record<string, string> = {
  EACCES: 'it may not be written',
  EPERM: 'it may not be written',
  EROFS: 'it is on a disk that may only be read',
  ENOSPC: 'the disk is full',
  ENOTDIR: 'it is not a folder',
  EEXIST: 'it is not a folder',
  ENOENT: 'it cannot be made'
}

/** True for the error that another process has the file locked. */
export const isBusy = (error: unknown): boolean => ((error as Failure).errcode ?? 0) % 256 === BUSY

/** Describes an error of SQLite or of the file system: what failed, and what to do. */
export function describeFailure (error: unknown): string {
  const { code = '', errcode, systemErrno, message } = error as Failure
  if (systemErrno === ENOSPC) return FULL
  // Not every such error has its number.
  if (/malformed|not a database|no such (column|table)/.test(message)) return DAMAGED
  // The lower byte is the kind of error, the others are details.
  return (errcode === undefined ? FILE_MESSAGES[code] : SQLITE_MESSAGES[errcode & 0xff]) ?? message
}

/** Parses stored JSON. Since we wrote it ourselves, anything else is damage. */
export function parseStored (text: string | undefined): unknown {
  try {
    return text === undefined ? undefined : JSON.parse(text) as unknown
  } catch {
    throw errors.storage(DAMAGED)
  }
}
