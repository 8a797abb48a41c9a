const WORDS: Record<number, string> = {
  5: 'another process keeps the data file locked',
  8: 'the data file may not be written',
  10: 'the disk reports an error',
  11: 'the data file is damaged: restore a copy of it or delete it',
  13: 'the disk is full, or the data file is as large as option maxData allows',
  14: 'the data file cannot be opened',
  26: 'the data file is damaged: restore a copy of it or delete it'
}

const FILE_WORDS: Record<string, string> = {
  EACCES: 'it may not be written',
  EPERM: 'it may not be written',
  EROFS: 'it is on a disk that may only be read',
  ENOSPC: 'the disk is full',
  ENOTDIR: 'it is not a folder',
  EEXIST: 'it is not a folder'
}

/** What the database or the file system says, in words. */
export function explain (error: unknown): string {
  const { code = '', errcode, message } = error as Error & { code?: string, errcode?: number }
  // The lower byte is the kind of error, the others are details.
  return (errcode === undefined ? FILE_WORDS[code] : WORDS[errcode & 0xff]) ?? message
}
