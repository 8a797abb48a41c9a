import { isDeepStrictEqual } from 'node:util'
import type { FastifyBaseLogger, FastifyInstance } from 'fastify'
import { unknownNames } from '../loader/unknown-names.js'
import type { Options } from '../options.js'

type Name = keyof Options

interface KeyNames { added: string[], removed: string[], changed: string[] }

/** The options that can change while the gateway runs. */
const RELOADABLE = ['apiKeys', 'scopes', 'rate', 'burst', 'toolRates'] as const satisfies Name[]

const NO_KEYS = 'option apiKeys has no key left: no caller is let in until there is one, or until a restart without authentication'

/**
 * Returns a function that reads the options again and applies those that can change while the gateway runs, all or none. If `read` throws
 * because they are wrong, the present ones stay. Changes are logged by the name of the option, never with values.
 */
export function reloader (app: FastifyInstance, logger: FastifyBaseLogger, options: Options, read: () => Options): () => void {
  let present = options
  return () => {
    try {
      const next = read()
      const changed = changesOf(present, next)
      const restart = changed.filter(name => !canChange(app, name))
      const now = changed.filter(name => !restart.includes(name))
      const keys = apply(app, now, next)
      present = { ...present, ...Object.fromEntries(now.map(name => [name, next[name]])) }
      report(logger, { changed: now, restart, keys })
      if (now.includes('apiKeys') && next.apiKeys.length === 0 && next.oauth === undefined) logger.warn(NO_KEYS)
      for (const sentence of now.length === 0 ? [] : unknownNames(app.mcp, present)) logger.warn(sentence)
    } catch (error) {
      logger.error(`options not reloaded, the previous ones stay: ${(error as Error).message.split(/\s*\n\s*/).join('; ')}`)
    }
  }
}

function changesOf (present: Options, next: Options): Name[] {
  const names = [...new Set([...Object.keys(present), ...Object.keys(next)])] as Name[]
  return names.filter(name => !isDeepStrictEqual(present[name], next[name])).sort()
}

/** Whether callers need a credential is decided at start: removing the last key lets no caller in, and a first key needs a restart. */
function canChange (app: FastifyInstance, name: Name): boolean {
  if (name === 'apiKeys') return 'identities' in app.mcp && app.mcp.identities.required
  return (RELOADABLE as readonly Name[]).includes(name)
}

// The keys first, because only they can still be refused.
function apply (app: FastifyInstance, changed: Name[], next: Options): KeyNames | undefined {
  const keys = changed.includes('apiKeys') ? app.mcp.identities.replaceKeys(next.apiKeys) : undefined
  // Also after a change of the scopes of keys: their callers get `list_changed` notifications.
  if (changed.includes('scopes') || (keys?.changed.length ?? 0) > 0) app.mcp.scopes.replaceScopes(next.scopes)
  if (changed.some(name => name === 'rate' || name === 'burst' || name === 'toolRates')) app.mcp.rateLimiter.replace(next)
  return keys
}

function report (logger: FastifyBaseLogger, { changed, restart, keys }: { changed: Name[], restart: Name[], keys: KeyNames | undefined }): void {
  const { added = [], removed = [], changed: altered = [] } = keys ?? {}
  const parts = [
    ...(changed.length === 0 ? [] : [`changed ${changed.join(', ')}`]),
    ...(added.length === 0 ? [] : [`keys added: ${added.join(', ')}`]),
    ...(removed.length === 0 ? [] : [`keys removed: ${removed.join(', ')}`]),
    ...(altered.length === 0 ? [] : [`keys changed: ${altered.join(', ')}`]),
    ...(restart.length === 0 ? [] : [`a restart is needed for ${restart.join(', ')}`])
  ]
  const level = restart.length === 0 ? 'info' : 'warn'
  logger[level]({ reload: { changed, restart, keys: { added, removed, changed: altered } } }, `options reloaded: ${parts.length === 0 ? 'nothing changed' : parts.join('; ')}`)
}
