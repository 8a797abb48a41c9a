import { resolve } from 'node:path'
import { locatePlugin } from '../../loader/plugin-place.js'
import type { Options } from '../../options.js'
import { isObject } from '../../protocol/wire/json.js'
import { withoutTilde } from '../../system/process/data-folder.js'

/** The options with their paths made absolute, relative to the folder of their source. */
export function resolvePaths (options: Partial<Options>, folder: string): Partial<Options> {
  const { plugins, roots, data, tls, mcpConfig, mcpServers } = options
  const place = (path: string) => resolve(folder, withoutTilde(path))
  return {
    ...options,
    ...(Array.isArray(plugins)
      ? {
          plugins: plugins.map(entry => (typeof entry === 'string' ? locatePlugin(withoutTilde(entry), folder) : entry))
        }
      : {}),
    ...(Array.isArray(roots) ? { roots: roots.map(root => (typeof root === 'string' ? place(root) : root)) } : {}),
    ...(Array.isArray(mcpConfig)
      ? { mcpConfig: mcpConfig.map(file => (typeof file === 'string' ? place(file) : file)) }
      : {}),
    ...(isObject(mcpServers) ? { mcpServers: placeServers(mcpServers, folder) } : {}),
    ...(typeof data === 'string' && data !== '' ? { data: place(data) } : {}),
    ...(typeof tls?.key === 'string' && typeof tls.cert === 'string'
      ? { tls: { ...tls, key: place(tls.key), cert: place(tls.cert) } }
      : {})
  }
}

/** The servers with their paths relative to the folder. A server that is started runs there unless it says where. */
function placeServers (servers: Options['mcpServers'], folder: string): Options['mcpServers'] {
  const place = (path: unknown): unknown =>
    typeof path === 'string' && /^[^~$/]/.test(path) ? resolve(folder, path) : path
  const placed = (server: unknown): unknown => {
    if (!isObject(server)) return server
    const { cwd, envFile, openapi, ...rest } = withFolder(server, folder) as Record<string, unknown>
    const paths = {
      cwd: place(cwd ?? (Object.hasOwn(rest, 'command') ? folder : undefined)),
      envFile: place(envFile),
      openapi: isUrl(openapi) ? openapi : place(openapi)
    }
    return { ...rest, ...Object.fromEntries(Object.entries(paths).filter(([, path]) => path !== undefined)) }
  }
  return Object.fromEntries(
    Object.entries(servers).map(([name, server]) => [name, placed(server)])
  ) as Options['mcpServers']
}

const isUrl = (value: unknown): boolean => typeof value === 'string' && /^[a-z][a-z+.-]+:/i.test(value)

/** A value with its `${workspaceFolder}` replaced, which is the folder of its file. */
function withFolder (value: unknown, folder: string): unknown {
  if (typeof value === 'string') return value.replaceAll('${workspaceFolder}', () => folder) // eslint-disable-line no-template-curly-in-string
  if (Array.isArray(value)) return value.map(item => withFolder(item, folder))
  return isObject(value)
    ? Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, withFolder(inner, folder)]))
    : value
}
