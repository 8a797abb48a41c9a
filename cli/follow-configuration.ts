import { lstatSync, readlinkSync, realpathSync, statSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import type { FastifyInstance } from 'fastify'
import { flatten, type Options } from '../options.js'

/** The files of the configuration, of which changes are noticed. */
export interface FollowedConfiguration {
  /** Also follows these files. */
  follow: (files: Iterable<string>) => void
  /**
   * Calls `reload` from now on when a file has changed, also by another one that took its name, and nothing more
   * happened for a moment.
   */
  start: (reload: () => void) => void
  close: () => void
}

/**
 * Calls `act` when a config file has changed since the start of the process, appears, or goes if it `wasThere`, and
 * nothing more happened for a moment. Rejects where the system cannot watch files.
 */
export async function followConfigFile (
  file: string,
  act: () => void,
  wasThere = false
): Promise<{ close: () => void }> {
  // Loaded when the gateway is up.
  const { FileChanges } = await import('../loader/reload/file-changes.js')
  const changes = new FileChanges(() => {
    const changed = changes.changes()
    // Its folder may have been made, or replaced.
    changes.watch(withTargets([file]), [])
    if (changed.length > 0) act()
  })
  changes.watch(withTargets([file]), [])
  // It may have changed since it was read, at the start of the process.
  const changedAt = statSync(file, { throwIfNoEntry: false })?.ctimeMs
  if (changedAt === undefined ? wasThere : changedAt >= performance.timeOrigin) act()
  return changes
}

/** Follows the config file, the files of clients, and what these refer to. */
export async function followConfiguration (
  app: FastifyInstance,
  options: Options,
  file: string | undefined
): Promise<FollowedConfiguration> {
  // Loaded only with --reload.
  const { FileChanges } = await import('../loader/reload/file-changes.js')
  const { files } = await app.mcp.upstreams.read(flatten(options))
  const followed = new Set([...(file === undefined ? [] : [file]), ...files])
  let act = (): void => {}
  const changes = new FileChanges(() => {
    const changed = changes.changes()
    // A folder may have been replaced.
    changes.watch(withTargets(followed), [])
    if (changed.length > 0) act()
  })
  changes.watch(withTargets(followed), [])
  return {
    follow: more => {
      for (const each of more) followed.add(each)
      changes.watch(withTargets(followed), [])
    },
    start: reload => {
      act = reload
    },
    close: () => changes.close()
  }
}

/** The most symbolic links from one to the next. */
const MAX_LINKS = 40

/** The files, and each file that symbolic links lead to from them: a change there has no event in their folder. */
function withTargets (files: Iterable<string>): Set<string> {
  const all = new Set<string>()
  for (const file of files) {
    let path = file
    try {
      for (let links = 0; links < MAX_LINKS; links++) {
        all.add(path)
        if (!lstatSync(path).isSymbolicLink()) break
        path = resolve(dirname(path), readlinkSync(path))
      }
      all.add(realpathSync(file))
    } catch {
      // A file that is not there yet is followed by the name it would have.
    }
  }
  return all
}
