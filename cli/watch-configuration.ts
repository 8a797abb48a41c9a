import type { FastifyInstance } from 'fastify'
import { flatten, type Options } from '../options.js'

export interface ConfigurationWatch {
  /** Also watches these files. */
  watch: (files: Iterable<string>) => void
  /** Calls `reload` from now on when a watched file has changed, also by another one that took its name, and nothing more happened for a moment. */
  start: (reload: () => void) => void
  close: () => void
}

/** Watches the config file, the files of clients, and what these refer to. */
export async function watchConfiguration (app: FastifyInstance, options: Options, file: string | undefined): Promise<ConfigurationWatch> {
  // Loaded only with --watch.
  const { FileWatch } = await import('../loader/watch/file-watch.js')
  const { files } = await app.mcp.upstreams.read(flatten(options))
  const watched = new Set([...(file === undefined ? [] : [file]), ...files])
  let act = (): void => {}
  const watcher = new FileWatch(() => {
    const changed = watcher.changes()
    // A folder may have been replaced.
    watcher.watch(watched, [])
    if (changed.length > 0) act()
  })
  watcher.watch(watched, [])
  return {
    watch: more => {
      for (const each of more) watched.add(each)
      watcher.watch(watched, [])
    },
    start: reload => { act = reload },
    close: () => watcher.close()
  }
}
