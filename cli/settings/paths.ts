import { resolve } from 'node:path'
import { locatePlugin } from '../../loader/plugin-place.js'
import type { Options } from '../../options.js'
import { withoutTilde } from '../../system/process/data-folder.js'

/** The options with their paths made absolute, relative to the folder of their source. */
export function resolvePaths (options: Partial<Options>, folder: string): Partial<Options> {
  const { plugins, roots, data, tls } = options
  const place = (path: string) => resolve(folder, withoutTilde(path))
  return {
    ...options,
    ...(Array.isArray(plugins) ? { plugins: plugins.map(entry => typeof entry === 'string' ? locatePlugin(withoutTilde(entry), folder) : entry) } : {}),
    ...(Array.isArray(roots) ? { roots: roots.map(root => typeof root === 'string' ? place(root) : root) } : {}),
    ...(typeof data === 'string' && data !== '' ? { data: place(data) } : {}),
    ...(typeof tls?.key === 'string' && typeof tls.cert === 'string' ? { tls: { ...tls, key: place(tls.key), cert: place(tls.cert) } } : {})
  }
}
