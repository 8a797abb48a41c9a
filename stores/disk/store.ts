import type { Store } from '../../protocol/store.js'
import { DiskConnection } from './connection.js'
import { openFile, refusalOf } from './file.js'
import { DiskNodes } from './nodes.js'
import { DiskSessions } from './sessions.js'
import { DiskValues } from './values.js'

/**
 * A store in one SQLite file in a folder. Acknowledged writes survive a crash of the process; several processes can use
 * one folder and see each other's changes. Throws a sentence about the folder if it cannot be used.
 */
export function diskStore (folder: string, maxSize: number): Store {
  const disk = new DiskConnection(openFile(folder, maxSize))
  try {
    return storeOn(disk)
  } catch (error) {
    // A damaged table is found when the first statement is prepared.
    void disk.close()
    throw refusalOf(folder, error)
  }
}

function storeOn (disk: DiskConnection): Store {
  const nodes = new DiskNodes(disk)
  return {
    kind: 'disk',
    values: new DiskValues(disk),
    sessions: new DiskSessions(disk, nodes),
    nodes,
    get failure () { return disk.failure },
    onFailureChange: listener => disk.onFailureChange(listener),
    close: async () => {
      await nodes.close()
      await disk.close()
    }
  }
}
