/** The values of a template's variables, decoded. A list or exploded variable gives its parts joined by commas. */
export type Variables = Record<string, string>

/** Matches URIs against an RFC 6570 template. Linear in the URI: no regular expression is built from it. */
export interface UriTemplate {
  readonly variables: readonly string[]
  match (uri: string): Variables | undefined
}

const MAX_URI = 2048

interface Operator { prefix: string, separator: string, named: boolean, reserved: boolean }
interface Expression extends Operator { names: string[] }
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
  const variables = parts.flatMap(part => typeof part === 'string' ? [] : part.names)
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
  const names = list.split(',').map(name => name.replace(/(\*|:\d+)$/, ''))
  if (!names.every(name => /^[A-Za-z0-9_.]+$/.test(name))) throw new Error(`URI template "${template}": cannot read {${source}}`)
  return { ...OPERATORS[symbol] as Operator, names }
}

// Each expression takes everything up to the next literal, or to what the next expression starts with.
function match (parts: Part[], uri: string): Variables | undefined {
  const found: Variables = {}
  let at = 0
  for (const [index, part] of parts.entries()) {
    if (typeof part === 'string') {
      if (!uri.startsWith(part, at)) return undefined
      at += part.length
    } else {
      const end = endOf(part, parts[index + 1], uri, at)
      if (!assign(part, uri.slice(at, end), found)) return undefined
      at = end
    }
  }
  return at === uri.length ? found : undefined
}

function endOf (part: Expression, next: Part | undefined, uri: string, at: number): number {
  const stop = typeof next === 'string' ? next : next?.prefix ?? ''
  const from = at + part.prefix.length
  // A literal at the very end binds to the end, so that {+path}.txt may contain ".txt" itself.
  const found = stop === '' ? -1 : next !== undefined && part.reserved ? uri.lastIndexOf(stop) : uri.indexOf(stop, from)
  return found < from ? uri.length : found
}

function assign (part: Expression, raw: string, found: Variables): boolean {
  if (raw === '') return part.prefix !== ''
  if (!raw.startsWith(part.prefix)) return false
  const body = raw.slice(part.prefix.length)
  return part.named ? assignNamed(part, body, found) : assignInOrder(part, body, found)
}

function assignNamed (part: Expression, body: string, found: Variables): boolean {
  for (const pair of body.split(part.separator)) {
    const [name = '', ...value] = pair.split('=')
    if (!part.names.includes(name) || !store(found, name, value.join('='), part)) return false
  }
  return true
}

function assignInOrder (part: Expression, body: string, found: Variables): boolean {
  const values = part.names.length === 1 ? [body] : body.split(part.separator)
  if (values.length > part.names.length) return false
  return values.every((value, index) => store(found, part.names[index] as string, value, part))
}

function store (found: Variables, name: string, raw: string, part: Expression): boolean {
  if (!part.reserved && /[/?#]/.test(part.separator === '/' ? raw.replaceAll('/', '') : raw)) return false
  try {
    found[name] = decodeURIComponent(raw)
    return true
  } catch {
    return false
  }
}
