import { existsSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { isObject } from '../protocol/wire/json.js'

const NAME = /^((?:@[\w.~-]+\/)?[a-z\d-][\w.~-]*)(?:\/(.+))?$/i
const CONDITIONS = new Set(['node', 'import', 'module-sync', 'default'])

/** True for what can be the name of a package, with or without a path inside of it. */
export const isPackageName = (text: string): boolean => NAME.test(text)

/** The file that `import` would load for the name of a package in a folder; undefined when there is none. */
export function packageEntry (specifier: string, folder: string): string | undefined {
  const [, name = '', inside] = NAME.exec(specifier) ?? []
  const root = packageFolder(name, folder)
  if (root === undefined) return undefined
  const { exports } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { exports?: unknown }
  if (exports !== undefined && exports !== null) {
    const target = findExport(exports, inside === undefined ? '.' : `./${inside}`)
    return target === undefined ? undefined : join(root, target)
  }
  try {
    return createRequire(join(folder, '_')).resolve(specifier)
  } catch {
    return undefined
  }
}

/** True when a package is installed for a folder, whatever it exports. */
export function isInstalled (specifier: string, folder: string): boolean {
  const [, name = ''] = NAME.exec(specifier) ?? []
  return packageFolder(name, folder) !== undefined
}

function packageFolder (name: string, folder: string): string | undefined {
  const place = join(folder, 'node_modules', name)
  if (existsSync(join(place, 'package.json'))) return place
  return dirname(folder) === folder ? undefined : packageFolder(name, dirname(folder))
}

/** The file that `exports` of a package.json gives for a path, https://nodejs.org/api/packages.html#exports. */
function findExport (exports: unknown, path: string): string | undefined {
  const paths =
    isObject(exports) && Object.keys(exports).some(key => key.startsWith('.'))
      ? (exports as Record<string, unknown>)
      : { '.': exports }
  if (Object.hasOwn(paths, path)) return conditional(paths[path])
  for (const [key, target] of Object.entries(paths).sort(([one], [other]) => other.length - one.length)) {
    const [before = '', after] = key.split('*')
    if (after === undefined || !path.startsWith(before) || !path.endsWith(after) || path.length < key.length) continue
    return conditional(target)?.replaceAll('*', path.slice(before.length, path.length - after.length))
  }
  return undefined
}

function conditional (target: unknown): string | undefined {
  if (typeof target === 'string') return target
  if (Array.isArray(target)) return target.map(conditional).find(each => each !== undefined)
  if (!isObject(target)) return undefined
  return Object.entries(target)
    .filter(([condition]) => CONDITIONS.has(condition))
    .map(([, each]) => conditional(each))
    .find(each => each !== undefined)
}
