import { posix } from 'node:path'

type Json = Record<string, unknown>

/** An answer to whether a rule is about a call: `maybe` where what it looks at is missing or odd. */
type Answer = 'yes' | 'no' | 'maybe'

/** A caller, as this evaluator takes it. */
export interface Caller {
  /** The names by which rules know it. */
  readonly names: readonly string[]
  readonly scopes: readonly string[]
  /** Undefined for callers that have no claims. */
  readonly claims: Json | undefined
  readonly view: string | undefined
}

export interface Judged { readonly effect: 'allow' | 'deny' | 'ask', readonly rule: number | undefined }

/**
 * Decides by rules in the plainest way, and shares no code with the gateway: rule by rule, each of its parts in turn,
 * without anything that is compiled, remembered or decided before the arguments are known.
 */
export function judge (
  rules: readonly Json[],
  fallback: 'allow' | 'deny',
  caller: Caller,
  thing: { readonly name: string, readonly annotations?: Json },
  args: unknown
): Judged {
  const asked: number[] = []
  const settle = (judged: Judged): Judged => {
    if (judged.effect === 'deny' || asked.length === 0) return judged
    const all = judged.effect === 'ask' && judged.rule !== undefined ? [...asked, judged.rule] : asked
    return { effect: 'ask', rule: all.find(each => rules[each]?.['by'] === 'operator') ?? all[0] }
  }
  for (const [index, rule] of rules.entries()) {
    const answer = isAbout(rule, caller, thing, args)
    if (answer === 'no') continue
    if (rule['deny'] !== undefined) return { effect: 'deny', rule: index }
    if (rule['allow'] !== undefined && answer === 'yes') return settle({ effect: 'allow', rule: index })
    if (rule['ask'] === undefined) continue
    if (answer === 'yes') return settle({ effect: 'ask', rule: index })
    asked.push(index)
  }
  return settle({ effect: fallback, rule: undefined })
}

function isAbout (
  rule: Json,
  caller: Caller,
  { name, annotations = {} }: { name: string, annotations?: Json },
  args: unknown
): Answer {
  const globs = (rule['allow'] ?? rule['deny'] ?? rule['ask']) as string[]
  const { hints = {}, where = {} } = rule as { hints?: Json, where?: Json }
  const isHinted =
    (hints['destructive'] === undefined ||
      (annotations['readOnlyHint'] !== true && annotations['destructiveHint'] !== false)) &&
    (hints['readOnly'] === undefined || annotations['readOnlyHint'] !== true) &&
    (hints['openWorld'] === undefined || annotations['openWorldHint'] !== false)
  return every([
    yesIf(globs.some(glob => isLike(name, glob))),
    yesIf(isHinted),
    rule['for'] === undefined ? 'yes' : isFor(rule['for'] as Json, caller),
    ...Object.entries(where).map(([path, matcher]) => fits(matcher, at(args, path)))
  ])
}

const yesIf = (is: boolean): Answer => is ? 'yes' : 'no'

const every = (answers: Answer[]): Answer =>
  answers.includes('no') ? 'no' : answers.includes('maybe') ? 'maybe' : 'yes'

const some = (answers: Answer[]): Answer =>
  answers.includes('yes') ? 'yes' : answers.includes('maybe') ? 'maybe' : 'no'

const opposite: Record<Answer, Answer> = { yes: 'no', no: 'yes', maybe: 'maybe' }

const isLike = (text: string, glob: string): boolean =>
  new RegExp(`^${glob.split('*').map(part => part.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&')).join('[^]*')}$`).test(text)

const list = (value: unknown): unknown[] => Array.isArray(value) ? value : [value]

function isFor ({ principal, scope, view, claim, not }: Json, caller: Caller): Answer {
  return every([
    ...(principal === undefined
      ? []
      : [yesIf(list(principal).some(glob => caller.names.some(name => isLike(name, String(glob)))))]),
    ...(scope === undefined
      ? []
      : [yesIf(list(scope).some(name => caller.scopes.includes('admin') || caller.scopes.includes(String(name))))]),
    ...(view === undefined
      ? []
      : [yesIf(list(view).some(glob => caller.view !== undefined && isLike(caller.view, String(glob))))]),
    ...Object.entries((claim ?? {}) as Json).map(([name, wanted]) => hasClaim(caller.claims, name, list(wanted))),
    ...(not === undefined ? [] : [opposite[isFor(not as Json, caller)]])
  ])
}

function hasClaim (claims: Json | undefined, name: string, wanted: unknown[]): Answer {
  if (claims === undefined) return 'no'
  if (!Object.keys(claims).includes(name)) return 'maybe'
  const value = claims[name]
  if (value === null) return 'no'
  return some(list(value).map(each => {
    if (typeof each === 'object') return 'maybe'
    return yesIf(wanted.some(one => typeof each === 'string' && typeof one === 'string' ? isLike(each, one) : one === each))
  }))
}

function at (args: unknown, path: string): unknown {
  let value = args
  for (const name of path.split('.')) {
    const isMap = typeof value === 'object' && value !== null && !Array.isArray(value)
    if (!isMap || !Object.keys(value as Json).includes(name)) return undefined
    value = (value as Json)[name]
  }
  return value
}

function fits (matcher: unknown, value: unknown): Answer {
  if (value === undefined) return 'maybe'
  if (typeof matcher !== 'object' || matcher === null) return isEqual(matcher, value)
  return every(Object.entries(matcher).map(([name, wanted]) => fitsOne(name, wanted, value)))
}

function fitsOne (name: string, wanted: unknown, value: unknown): Answer {
  switch (name) {
    case 'is':
      return isEqual(wanted, value)
    case 'in':
      if (!list(wanted).some(one => typeof one === typeof value)) return 'maybe'
      return yesIf(list(wanted).some(one =>
        typeof one === 'string' && typeof value === 'string' ? isLike(value, one) : one === value))
    case 'min':
      return typeof value === 'number' ? yesIf(value >= Number(wanted)) : 'maybe'
    case 'max':
      return typeof value === 'number' ? yesIf(value <= Number(wanted)) : 'maybe'
    case 'not':
      return opposite[fits(wanted, value)]
    case 'each':
      return Array.isArray(value) ? every(value.map(one => fits(wanted, one))) : 'maybe'
    case 'has':
      return Array.isArray(value) ? some(value.map(one => fits(wanted, one))) : 'maybe'
    case 'under':
      return some(list(wanted).map(base => isUnder(String(base), value)))
    default:
      throw new Error(`there is no matcher ${name}`)
  }
}

function isEqual (wanted: unknown, value: unknown): Answer {
  if (wanted === null) return yesIf(value === null)
  return value === null || typeof wanted !== typeof value ? 'maybe' : yesIf(wanted === value)
}

/** Compares by the texts of normal forms. */
function isUnder (base: string, value: unknown): Answer {
  const [inside, outside] = [normal(base, base), normal(value, base)]
  if (inside === undefined || outside === undefined) return 'maybe'
  const isBelow = (fold: (text: string) => string): boolean =>
    `${fold(outside)}/`.startsWith(fold(inside === '' ? '/' : `${inside}/`))
  const [is, mayBe] = [isBelow(text => text), isBelow(text => text.normalize('NFKC').toLowerCase())]
  return is === mayBe ? yesIf(is) : 'maybe'
}

/** A path or URL without a slash at its end; undefined where programs read it in more than one way. */
function normal (value: unknown, base: string): string | undefined {
  if (typeof value !== 'string' || /\p{Cc}/u.test(value)) return undefined
  if (base.startsWith('/')) {
    const parts = value.split('/')
    const isOdd = !value.startsWith('/') || value.includes('//') || value.includes('\\') ||
      parts.some(part => part !== '.' && part !== '..' && (part.endsWith('.') || part.endsWith(' ') || /%[0-9a-f]{2}/i.test(part)))
    return isOdd ? undefined : posix.normalize(value).replace(/\/$/, '')
  }
  if (!value.includes('://') || /[\s\\]/.test(value) || !URL.canParse(value)) return undefined
  const { origin, username, password, pathname, hostname } = new URL(value)
  const parts = pathname.split('/').slice(1).map(part => decodeURIComponent(part))
  const isOdd = username !== '' || password !== '' || hostname.endsWith('.') || parts.slice(0, -1).includes('') ||
    parts.some(part => /[/\\%]|[. ]$/.test(part))
  return isOdd ? undefined : `${origin}/${parts.join('/')}`.replace(/\/$/, '')
}
