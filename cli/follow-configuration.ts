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
    changes.watch(followed, [])
    if (changed.length > 0) act()
  })
  changes.watch(followed, [])
  return {
    follow: more => {
      for (const each of more) followed.add(each)
      changes.watch(followed, [])
    },
    start: reload => {
      act = reload
    },
    close: () => changes.close()
  }
}
