import type { Condition, Rule } from '../../../../protocol/rules/rule.js'
import type { Configuration, Item } from './configuration.js'

type Seen = Pick<Configuration, 'view' | 'granted' | 'claims' | 'rules' | 'rulesDefault'>

/** The rules once more, written apart from the product: of a thing with any arguments, and with these. */
export function ruledOf (
  { rules, rulesDefault, ...seen }: Seen,
  { canonical, readOnly }: Pick<Item, 'canonical' | 'readOnly'>,
  index: unknown
): { isShown: boolean, isDenied: boolean } {
  const about = rules.filter(({ allow, deny, for: condition = {}, hints }) => {
    const truth = holds(condition, seen)
    return (truth ?? deny !== undefined) && (hints === undefined || readOnly !== true) &&
      (allow ?? deny ?? []).some(glob => fits(glob, canonical))
  })
  const fixed = about.findIndex(({ where }) => where === undefined)
  const reached = fixed === -1 ? about : about.slice(0, fixed + 1)
  const decides = reached.find(({ where, deny }) => where === undefined || (isMet(where, index) ?? deny !== undefined))
  const denies = (rule: Rule | undefined): boolean => rule === undefined ? rulesDefault === 'deny' : rule.deny !== undefined
  return {
    isShown: !denies(about[fixed]) || reached.some(({ allow, where }) => allow !== undefined && where !== undefined),
    isDenied: denies(decides)
  }
}

const fits = (glob: string, text: string): boolean =>
  new RegExp(`^${glob.replace(/[+.]/g, '\\$&').replaceAll('*', '.*')}$`).test(text)

/** Undefined where the claim is neither a text nor a list of texts. */
function holds (condition: Condition, seen: Pick<Seen, 'view' | 'granted' | 'claims'>): boolean | undefined {
  const { principal, scope, claim, view, not } = condition
  const inner = not === undefined ? undefined : holds(not, seen)
  const truths = [
    principal === undefined || [principal].flat().some(glob => fits(glob, 'ada')),
    scope === undefined || seen.granted.includes('admin') || seen.granted.includes(String(scope)),
    view === undefined || (seen.view !== undefined && fits(String(view), 'some')),
    claim === undefined || holdsClaim(String(claim.team), seen.claims.team),
    not === undefined || (inner === undefined ? undefined : !inner)
  ]
  return truths.includes(false) ? false : truths.includes(undefined) ? undefined : true
}

function holdsClaim (glob: string, team: unknown): boolean | undefined {
  if (team === null || typeof team === 'number') return false
  return typeof team === 'object' && !Array.isArray(team) ? undefined : [team].flat().some(each => fits(glob, String(each)))
}

/** Undefined where the argument is missing, or of another kind. */
function isMet ({ index: matcher }: NonNullable<Rule['where']>, index: unknown): boolean | undefined {
  if (index === undefined) return undefined
  if (matcher === null) return index === null
  if (typeof matcher === 'object' && 'max' in matcher) return typeof index === 'number' ? index <= 3 : undefined
  // The others are about texts.
  if (typeof index !== 'string') return undefined
  if (typeof matcher === 'object') return 'not' in matcher ? index !== matcher.not : index.startsWith('f')
  return index === matcher
}
