import type { CallerRules } from '../../../protocol/rules/caller-rules.js'
import type { RuleSet } from '../../../protocol/rules/rule-set.js'
import { grants, type Identity } from '../../../protocol/wire/identity.js'
import type { Mcp } from '../../core/mcp.js'
import type { Kind, Scoped } from '../../core/scopes.js'
import { thingOf } from './things.js'

/** Makes the test whether the list of a caller in a view is another one by new rules than by the former ones. */
export function changedFor (
  mcp: Mcp,
  kind: Kind,
  former: RuleSet,
  next: RuleSet
): (principal: string | undefined, identity: Identity, view: string | undefined) => boolean {
  /** The items that differ for callers of one kind, by their former rules. */
  const known = new Map<string | undefined, Map<CallerRules, Map<CallerRules, string[]>>>()

  return (_principal, identity, view) => {
    const keys = changedKeys(view, former.of(identity, view), next.of(identity, view))
    return keys.some(key => {
      const item = itemsOf(mcp, kind, view).get(key)
      return item !== undefined && grants(identity, mcp.scopes.target(kind, key, item).scopes)
    })
  }

  function changedKeys (view: string | undefined, before: CallerRules, after: CallerRules): string[] {
    const byFormer = known.get(view) ?? new Map<CallerRules, Map<CallerRules, string[]>>()
    known.set(view, byFormer)
    const byNext = byFormer.get(before) ?? new Map<CallerRules, string[]>()
    byFormer.set(before, byNext)
    const isOther = (key: string): boolean => isShown(before, key, view) !== isShown(after, key, view)
    const found = byNext.get(after) ?? keysOf(view).filter(isOther)
    byNext.set(after, found)
    return found
  }

  function isShown (rules: CallerRules, key: string, view: string | undefined): boolean {
    const item = itemsOf(mcp, kind, view).get(key)
    return item === undefined || rules.ofItem(item, () => thingOf(kind, key, item)).isShown
  }

  function keysOf (view: string | undefined): string[] {
    const seen = view === undefined ? mcp : mcp.views.get(view)
    if (seen === undefined) return []
    return kind === 'resources' ? seen.resources.uris() : seen[kind].names()
  }
}

function itemsOf (mcp: Mcp, kind: Kind, view: string | undefined): { get: (key: string) => Scoped | undefined } {
  const seen = view === undefined ? mcp : mcp.views.get(view)
  return seen?.[kind] ?? { get: () => undefined }
}
