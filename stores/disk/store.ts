import type { Store } from '../../protocol/store.js'
import { DiskConnection } from './connection.js'
import { openFile } from './file.js'
import { DiskSessions } from './sessions.js'
import { DiskValues } from './values.js'

/**
 * Keeps everything in one SQLite file in a folder. What is acknowledged survives the death of the process; several processes may use
 * one folder and see each other's changes. Throws a sentence about the folder when that cannot be.
 */
export function diskStore (folder: string, maxSize: number): Store {
  const disk = new DiskConnection(openFile(folder, maxSize))
  return {
    kind: 'disk',
    values: new DiskValues(disk),
    sessions: new DiskSessions(disk),
    get failure () { return disk.trouble },
    onFailureChange: listener => disk.onTrouble(listener),
    close: async () => await disk.close()
  }
}
