import { resolve } from 'node:path'
import type { FastifyInstance } from 'fastify'
import type { Options } from '../options.js'
import { checkoutSkills } from './checkout.js'
import { findSkills, isSkill } from './find-skills.js'
import { loadFile } from './load-file.js'
import { loadSkills } from './load-skills.js'
import { filesAt, locatePlugin, lookAt } from './plugin-place.js'
import { loadDeadline } from './register-plugin.js'
import { reloadPlugins } from './reload/plugin-reloader.js'

/**
 * Registers the entries of option `plugins` in their order: functions as they are, and each file once that a path,
 * folder, glob or package names, and that `isServed`. They have to be registered at the deadline. Then come the skills.
 */
export async function loadPlugins (
  app: FastifyInstance,
  { plugins, reload, grace, tools }: Pick<Options, 'plugins' | 'reload' | 'grace'> & Partial<Pick<Options, 'tools'>>,
  isServed: (file: string) => boolean = () => true,
  deadline = loadDeadline(app)
): Promise<void> {
  const places = plugins.map(plugin => typeof plugin === 'string' ? locatePlugin(plugin, resolve('.')) : plugin)
  const code = places.filter(place => typeof place !== 'string' || !isSkill(place))
  if (reload) await reloadPlugins(app, code, grace, isServed)
  else await loadOnce(app, code, isServed, deadline)
  const folders = places.filter(place => typeof place === 'string')
  await loadSkills(app, [...tools === false ? [] : checkoutSkills(), ...folders], reload)
}

async function loadOnce (
  app: FastifyInstance,
  places: Options['plugins'],
  isServed: (file: string) => boolean,
  deadline: number
): Promise<void> {
  const loaded = new Set<string>()
  for (const place of places) {
    if (typeof place !== 'string') {
      await app.register(place)
      continue
    }
    const { files } = findSkills(place).skills.length > 0 ? lookAt(place) : filesAt(place)
    for (const file of files) {
      if (!loaded.has(file) && isServed(file)) await loadFile(app, file, deadline)
      loaded.add(file)
    }
  }
}
