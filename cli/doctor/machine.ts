import { existsSync, mkdtempSync, rmdirSync, statSync, unlinkSync, writeFileSync } from 'node:fs'
import { statfs } from 'node:fs/promises'
import { join } from 'node:path'
import type { Options } from '../../options.js'
import { Clipboard } from '../../system/clipboard/clipboard.js'
import type { ClipboardError } from '../../system/clipboard/clipboard-error.js'
import { checkFolder, nearestFolder } from '../report/check-folder.js'
import type { Finding } from './finding.js'

/** Less free space than this is a warning, in bytes. */
const LITTLE_SPACE = 100 * 2 ** 20

const OTHERS = 0o077
const OTHERS_WRITE = 0o022

const ELSEWHERE = 'choose another folder with --data, or keep nothing with --ephemeral'

/** Says which Node.js runs; one that is too old has ended the command before. */
export const examineNode = (): Finding => ({
  part: 'node',
  level: 'ok',
  text: `Node.js ${process.versions.node} on ${process.platform} ${process.arch}`
})

/** Looks at the data folder: that it can be written, who else can, and how much space is left. */
export async function examineData (options: Pick<Options, 'data' | 'ephemeral' | 'redis'>): Promise<Finding> {
  const { data, ephemeral, redis } = options
  const part = 'data'
  if (redis !== undefined) return { part, level: 'ok', text: 'no folder is used: everything is kept in Redis' }
  if (ephemeral || data === undefined) return { part, level: 'ok', text: 'no folder is used: nothing is kept' }
  const wrong = unusable(options) ?? unwritable(data)
  if (wrong !== undefined) {
    const [text = '', ...advice] = wrong.split('; ')
    return { part, level: 'broken', text, advice: advice.join('; ') || ELSEWHERE }
  }
  const place = nearestFolder(data)
  const free = await freeBytes(place)
  const size = free === undefined ? '' : `, ${inUnits(free)} free`
  if (free !== undefined && free < LITTLE_SPACE) {
    return { part, level: 'warning', text: `${data}: only ${inUnits(free)} are free`, advice: 'make room on its disk' }
  }
  if (!existsSync(data)) return { part, level: 'ok', text: `${data} is created by the first start${size}` }
  return findExposure(data) ?? { part, level: 'ok', text: `${data}: writable, mode ${modeOf(data).toString(8)}${size}` }
}

function unusable (options: Parameters<typeof checkFolder>[0]): string | undefined {
  try {
    checkFolder(options)
    return undefined
  } catch (error) {
    return (error as Error).message
  }
}

/** Writes and removes a file in the folder, or a folder where it would be created: rights alone do not tell. */
function unwritable (data: string): string | undefined {
  const place = nearestFolder(data)
  try {
    if (place === data) {
      const file = join(data, `doctor-${process.pid}.tmp`)
      writeFileSync(file, 'x', { flag: 'wx' })
      unlinkSync(file)
    } else rmdirSync(mkdtempSync(join(place, 'patchbay-doctor-')))
    return undefined
  } catch (error) {
    const { code = 'unknown error' } = error as NodeJS.ErrnoException
    return `data folder ${data}: nothing can be written to ${place} (${code})`
  }
}

function findExposure (data: string): Finding | undefined {
  if (process.platform === 'win32') return undefined
  const finding = (text: string, advice: string): Finding => ({ part: 'data', level: 'warning', text, advice })
  if ((modeOf(data) & OTHERS_WRITE) !== 0) {
    return finding(`${data}: other users can write to it (mode ${modeOf(data).toString(8)})`, `run chmod 700 ${data}`)
  }
  const file = join(data, 'patchbay.db')
  return existsSync(file) && (modeOf(file) & OTHERS) !== 0
    ? finding(`${file}: other users can read it (mode ${modeOf(file).toString(8)})`, `run chmod 600 ${file}`)
    : undefined
}

const modeOf = (path: string): number => statSync(path).mode & 0o777

/** Undefined where the file system does not say. */
async function freeBytes (folder: string): Promise<number | undefined> {
  const { bavail, bsize, blocks } = await statfs(folder).catch(() => ({ bavail: 0, bsize: 0, blocks: 0 }))
  return blocks === 0 ? undefined : bavail * bsize
}

function inUnits (bytes: number): string {
  const [unit, divisor] = bytes < 2 ** 30 ? ['MiB', 2 ** 20] as const : ['GiB', 2 ** 30] as const
  return `${(bytes / divisor).toFixed(1)} ${unit}`
}

/** Reads the clipboard, and forgets what is in it. A machine without one is nothing to warn of. */
export async function examineClipboard (): Promise<Finding> {
  return await new Clipboard().read().then(
    () => ({ part: 'clipboard', level: 'ok', text: 'it can be read' }),
    ({ message, hint }: ClipboardError) => ({
      part: 'clipboard',
      level: 'note',
      text: `it cannot be used: ${message}; everything else works without it`,
      advice: hint
    })
  )
}
