import { existsSync, realpathSync, statSync, type Stats } from 'node:fs'
import { basename, dirname, join } from 'node:path'

/** The folders in which a version control system keeps what it knows of a project. */
const REPOSITORIES = ['.git', '.hg', '.svn', '.jj']

/** The bits of those who are not the owner. */
const OTHERS_WRITE = 0o022
const STICKY = 0o1000

/** Says why others may have written a file, or why it may have come with a project; undefined for the user's own. */
export const describeForeign = (file: string, home: string | undefined): string | undefined =>
  describeProject(file, home) ?? describeForeignWriters(file)

/**
 * Says why others may have written a file, and what to do; undefined where only this user or root can have. Windows
 * does not say who may.
 */
export function describeForeignWriters (file: string, user = process.getuid?.()): string | undefined {
  if (user === undefined) return undefined
  const path = realpathSync(file)
  const [stats, folder] = [statSync(path), statSync(dirname(path))]
  const isOwn = ({ uid }: Stats): boolean => uid === user || uid === 0
  if (!isOwn(stats)) return `${path} belongs to another user; let its owner be the user who runs the gateway`
  if ((stats.mode & OTHERS_WRITE) !== 0) return `${path} can be written by other users; run chmod go-w on it`
  // In a folder with the sticky bit, such as /tmp, others cannot replace a file.
  if (!isOwn(folder) || ((folder.mode & OTHERS_WRITE) !== 0 && (folder.mode & STICKY) === 0)) {
    return `the folder of ${path} can be written by other users; run chmod go-w on it, or move the file`
  }
  return undefined
}

/**
 * Says why a file may have come with a project, which its user has not written; undefined where it seems to be the
 * user's own. Settings of a client in the home folder are.
 */
export function describeProject (file: string, home: string | undefined): string | undefined {
  const path = realpathSync(file)
  if (basename(path) === '.mcp.json') return `${path} is the file of a project`
  for (let folder = dirname(path); dirname(folder) !== folder; folder = dirname(folder)) {
    const found = REPOSITORIES.find(name => existsSync(join(folder, name)))
    if (found !== undefined) return `${path} is part of the project ${folder}, which has a ${found}`
    if (basename(folder).startsWith('.') && dirname(folder) !== home && !isBelow(folder, home)) {
      return `${path} is in ${folder}, where clients keep the settings of a project`
    }
  }
  return undefined
}

/** True for `~/.config/client` and the like: the folder of that dot is in the home folder. */
function isBelow (folder: string, home: string | undefined): boolean {
  for (let above = dirname(folder); dirname(above) !== above; above = dirname(above)) {
    if (basename(above).startsWith('.') && dirname(above) === home) return true
  }
  return false
}
