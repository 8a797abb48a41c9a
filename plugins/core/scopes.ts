import fp from 'fastify-plugin'
import type { Call } from '../../protocol/dispatch/call.js'
import type { Collection, Filter } from '../../protocol/definitions/collection.js'
import { DEFAULT_SCOPES, grants } from '../../protocol/wire/identity.js'
import { Listeners } from '../../lib/listeners.js'
import type { PreparedResult } from '../../protocol/wire/result.js'
import type { AuditSubject, Target } from '../../protocol/dispatch/target.js'

declare module './mcp.js' {
  interface Mcp {
    /** What it takes to use something that is registered: what the operator says, or else its author. */
    scopes: {
      /** What a request for it takes. */
      target: <T extends Guarded>(kind: Kind, key: string, item: T) => Target<T>
      allows: (call: Call, kind: Kind, key: string, item: Guarded) => boolean
      /** A collection as the caller may see it. */
      listing: <T extends Guarded>(kind: Kind, collection: Collection<T>) => { derived: Map<string, PreparedResult>, page: (after: string | undefined, size: number, call: Call) => { items: T[], last: string | undefined } }
      /** Puts what the operator says now in place of what was said before. */
      replaceScopes: (scopes: AccessOptions['scopes']) => void
      /** Runs when callers may see other things than before. Returns how to remove it. */
      onChange: (listener: () => void) => () => void
    }
  }
}

export type Kind = 'tools' | 'resources' | 'prompts'

/** Something whose author may have said what it takes. */
export interface Guarded { readonly scopes: readonly string[] | undefined }

export interface AccessOptions { scopes: Record<string, readonly string[]> }

const AUDIT_SUBJECT: Record<Kind, (key: string) => AuditSubject> = { tools: tool => ({ tool }), resources: resource => ({ resource }), prompts: prompt => ({ prompt }) }

export default fp(async (fastify, { scopes }: AccessOptions) => {
  let said = new Map(Object.entries(scopes))
  /** Found out once for each thing. */
  let rules = new WeakMap<Guarded, Target>()
  const listeners = new Listeners<[]>(fastify.mcp.dispatcher.observers.reporter('access.onChange'))

  fastify.mcp.provide('scopes', {
    target: <T extends Guarded>(kind: Kind, key: string, item: T) => (rules.get(item) ?? newRule(kind, key, item)) as Target<T>,
    allows: (call, kind, key, item) => grants(call.identity, (rules.get(item) ?? newRule(kind, key, item)).scopes),
    replaceScopes: scopes => {
      said = new Map(Object.entries(scopes))
      rules = new WeakMap()
      listeners.notify()
    },
    onChange: listener => listeners.add(listener),
    listing: <T extends Guarded>(kind: Kind, collection: Collection<T>) => ({
      derived: collection.derived,
      page: (after: string | undefined, size: number, call: Call) => {
        const keep: Filter<T> = (key, item) => fastify.mcp.scopes.allows(call, kind, key, item)
        return collection.page(after, size, call.identity.scopes === 'all' ? undefined : keep)
      }
    })
  })

  function newRule (kind: Kind, key: string, item: Guarded): Target {
    const rule = { auditSubject: AUDIT_SUBJECT[kind](key), scopes: said.get(`${kind}/${key}`) ?? item.scopes ?? DEFAULT_SCOPES, item }
    rules.set(item, rule)
    return rule
  }
}, { name: 'patchbay-scopes', dependencies: ['patchbay-mcp'] })
