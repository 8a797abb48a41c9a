import { spawnSync } from 'node:child_process'
import type { Test } from 'tap'
import { dataFolder } from '../../support/environment/on-disk.js'

/**
 * A small disk of its own, gone when the test ends; where that is not possible the test is skipped and there is none.
 */
export async function mounted (t: Test, options: string): Promise<string | undefined> {
  const folder = await dataFolder(t)
  const { status, stderr } = spawnSync('mount', ['-t', 'tmpfs', '-o', options, 'tmpfs', folder], { encoding: 'utf8' })
  if (status === 0) {
    t.after(() => { spawnSync('umount', ['--lazy', folder]) })
    return folder
  }
  t.pass('needs a disk', { skip: `none can be mounted: ${(stderr ?? 'there is no mount').trim()}` })
  return undefined
}
