import { resolve } from 'node:path'
import type { FastifyInstance } from 'fastify'
import type { Options } from '../options.js'
import { loadFile } from './load-file.js'
import { filesAt, locatePlugin } from './plugin-place.js'
import { loadDeadline } from './register-plugin.js'
import { reloadPlugins } from './reload/plugin-reloader.js'

/**
 * Registers the entries of option `plugins` in their order: functions as they are, and each file once that a path,
 * folder, glob or package names, and that `isServed`. They have to be registered at the deadline.
 */
export async function loadPlugins (
  app: FastifyInstance,
  { plugins, reload, grace }: Pick<Options, 'plugins' | 'reload' | 'grace'>,
  isServed: (file: string) => boolean = () => true,
  deadline = loadDeadline(app)
): Promise<void> {
  if (reload) return await reloadPlugins(app, plugins, grace, isServed)
  const loaded = new Set<string>()
  for (const plugin of plugins) {
    if (typeof plugin !== 'string') {
      await app.register(plugin)
      continue
    }
    for (const file of filesAt(locatePlugin(plugin, resolve('.'))).files) {
      if (!loaded.has(file) && isServed(file)) await loadFile(app, file, deadline)
      loaded.add(file)
    }
  }
}
