import { tryDecode } from '../../lib/network.js'

/** The values of a template's variables, decoded. The parts of an exploded variable are joined by commas. */
export type Variables = Record<string, string>

type Plain<S extends string> = S extends `${infer Name}*` ? Name : S extends `${infer Name}:${string}` ? Name : S
type Listed<S extends string> = S extends `${infer First},${infer Rest}` ? Plain<First> | Listed<Rest> : Plain<S>
type Always<E extends string> = E extends `${'#' | '.' | '/' | ';' | '?' | '&'}${string}`
  ? never
  : E extends `+${infer Names}`
    ? Listed<Names>
    : Listed<E>
type Perhaps<E extends string> = E extends `${'#' | '.' | '/' | ';' | '?' | '&'}${infer Names}` ? Listed<Names> : never
type Expressions<U extends string> = U extends `${string}{${infer E}}${infer Rest}` ? E | Expressions<Rest> : never

/** The variables of a template that is known to TypeScript; an expression with an operator may be left out of a URI. */
export type VariablesOf<U extends string> = string extends U
  ? Variables
  : { [K in Always<Expressions<U>>]: string } & { [K in Perhaps<Expressions<U>>]?: string }

/** Matches URIs against an RFC 6570 template. Linear in the URI: no regular expression is built from it. */
export interface UriTemplate {
  readonly variables: readonly string[]
  match (uri: string): Variables | undefined
}

/** No template matches a URI that is longer. */
export const MAX_URI = 2048

interface Operator { prefix: string, separator: string, named: boolean, reserved: boolean }
interface Variable { name: string, explode: boolean, max: number }
interface Expression extends Operator { variables: Variable[] }
type Part = string | Expression

const OPERATORS: Record<string, Operator> = {
  '': { prefix: '', separator: ',', named: false, reserved: false },
  '+': { prefix: '', separator: ',', named: false, reserved: true },
  '#': { prefix: '#', separator: ',', named: false, reserved: true },
  '.': { prefix: '.', separator: '.', named: false, reserved: false },
  '/': { prefix: '/', separator: '/', named: false, reserved: false },
  ';': { prefix: ';', separator: ';', named: true, reserved: false },
  '?': { prefix: '?', separator: '&', named: true, reserved: false },
  '&': { prefix: '&', separator: '&', named: true, reserved: false }
}

export const isTemplate = (uri: string): boolean => uri.includes('{')

/** Throws on a template that is not well formed. */
export function uriTemplate (template: string): UriTemplate {
  const parts = parse(template)
  const variables = parts.flatMap(part => typeof part === 'string' ? [] : part.variables.map(({ name }) => name))
  return { variables, match: uri => uri.length > MAX_URI ? undefined : match(parts, uri) }
}

function parse (template: string): Part[] {
  const parts: Part[] = []
  let rest = template
  while (rest !== '') {
    const open = rest.indexOf('{')
    const close = rest.indexOf('}')
    if (open === -1 && close === -1) return [...parts, rest]
    if (open === -1 || close < open) throw new Error(`URI template "${template}" has unbalanced braces`)
    if (open > 0) parts.push(rest.slice(0, open))
    parts.push(expression(rest.slice(open + 1, close), template))
    rest = rest.slice(close + 1)
  }
  return parts
}

function expression (source: string, template: string): Expression {
  const [, symbol = '', list = ''] = /^([+#./;?&]?)(.+)$/.exec(source) ?? []
  const variables = list.split(',').map(spec => {
    const [, name, explode, max] = /^([A-Za-z0-9_.]+?)(?:(\*)|:(\d{1,4}))?$/.exec(spec) ?? []
    if (name === undefined) throw new Error(`URI template "${template}": cannot read {${source}}`)
    return { name, explode: explode !== undefined, max: max === undefined ? Infinity : Number(max) }
  })
  return { ...OPERATORS[symbol] as Operator, variables }
}

// Each expression takes everything up to the next literal, or to what the next expression starts with.
function match (parts: Part[], uri: string): Variables | undefined {
  const last = parts.at(-1)
  if (typeof last === 'string' && !uri.endsWith(last)) return undefined
  const found = new Map<string, string>()
  let at = 0
  for (const [index, part] of parts.entries()) {
    if (typeof part === 'string') {
      if (!uri.startsWith(part, at)) return undefined
      at += part.length
    } else {
      const end = endOf(part, parts.slice(index + 1, index + 3), uri, at)
      if (!assign(part, uri.slice(at, end), found)) return undefined
      at = end
    }
  }
  return at === uri.length ? Object.fromEntries(found) : undefined
}

function endOf (part: Expression, [next, afterNext]: Part[], uri: string, at: number): number {
  const stop = typeof next === 'string' ? next : next?.prefix ?? ''
  if (stop === '') return uri.length
  const from = at + part.prefix.length
  // The last literal binds to the end, so that {name}.txt may itself contain ".txt".
  const last = typeof next === 'string' && afterNext === undefined
  const found = last || part.reserved ? uri.lastIndexOf(stop) : uri.indexOf(stop, from)
  return found < from ? uri.length : found
}

function assign (part: Expression, raw: string, found: Map<string, string>): boolean {
  if (raw === '') return part.prefix !== ''
  if (!raw.startsWith(part.prefix)) return false
  const values = raw.slice(part.prefix.length).split(part.separator)
  return part.named ? assignNamed(part, values, found) : assignInOrder(part, values, found)
}

function assignNamed (part: Expression, pairs: string[], found: Map<string, string>): boolean {
  return pairs.every(pair => {
    const [name = '', ...rest] = pair.split('=')
    const variable = part.variables.find(candidate => candidate.name === name)
    return (
      variable !== undefined && (variable.explode || !found.has(name)) && store(found, variable, rest.join('='), part)
    )
  })
}

// One exploded variable takes what the plain ones leave; a lone plain one may contain its separator only where that is
// a comma.
function assignInOrder (part: Expression, values: string[], found: Map<string, string>): boolean {
  const [only] = part.variables
  if (part.variables.length === 1 && only !== undefined) {
    const whole = only.explode ? values : part.separator === ',' ? [values.join(',')] : values
    return (only.explode || whole.length === 1) && whole.every(value => store(found, only, value, part))
  }
  return values.every((value, index) => {
    const variable = part.variables[index] ?? part.variables.at(-1) as Variable
    return (index < part.variables.length || variable.explode) && store(found, variable, value, part)
  })
}

function store (found: Map<string, string>, { name, max }: Variable, raw: string, { reserved }: Expression): boolean {
  if (!reserved && /[/?#]/.test(raw)) return false
  const value = raw.includes('%') ? tryDecode(raw) : raw
  if (value === undefined || (max !== Infinity && [...value].length > max)) return false
  const earlier = found.get(name)
  found.set(name, earlier === undefined ? value : `${earlier},${value}`)
  return true
}
