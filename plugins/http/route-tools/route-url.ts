import { ToolError } from '../../../protocol/wire/errors.js'

/** A part of a URL: a text, or the name of a parameter. */
type Part = string | { readonly name: string, readonly isOptional: boolean }

const NAME = /^:([^/\-.(:?*]+)/

/** Fills in the URL of a route. `names` are its parameters. */
export interface RouteUrl {
  readonly names: ReadonlyArray<{ readonly name: string, readonly isOptional: boolean }>
  /** Makes the path; a value can neither leave its place nor be two segments, but for that of a `*`. */
  fill: (values: Readonly<Record<string, unknown>>) => string
}

/** Reads the URL of a route as Fastify's router does; undefined for a form that is not known here. */
export function readRouteUrl (url: string): RouteUrl | undefined {
  const parts: Part[] = []
  for (let rest = url; rest !== '';) {
    const [whole = '', name] = NAME.exec(rest) ?? []
    if (rest.startsWith('::')) {
      parts.push(':')
      rest = rest.slice(2)
    } else if (name !== undefined) {
      const after = withoutPattern(rest.slice(whole.length))
      if (after === undefined) return undefined
      const isOptional = after.startsWith('?')
      parts.push({ name, isOptional })
      rest = isOptional ? after.slice(1) : after
    } else if (rest === '*') {
      parts.push({ name: '*', isOptional: true })
      rest = ''
    } else if (rest.startsWith(':') || rest.startsWith('*')) return undefined
    else {
      const end = rest.slice(1).search(/[:*]/)
      parts.push(end === -1 ? rest : rest.slice(0, end + 1))
      rest = end === -1 ? '' : rest.slice(end + 1)
    }
  }
  return {
    names: parts.filter(part => typeof part !== 'string'),
    fill: values => fill(parts, values)
  }
}

/** The rest of a URL behind the regular expression of a parameter; undefined where that does not end. */
function withoutPattern (rest: string): string | undefined {
  if (!rest.startsWith('(')) return rest
  let depth = 0
  for (let at = 0; at < rest.length; at++) {
    const character = rest[at]
    if (character === '\\') at++
    else if (character === '(') depth++
    else if (character === ')' && --depth === 0) return rest.slice(at + 1)
  }
  return undefined
}

function fill (parts: readonly Part[], values: Readonly<Record<string, unknown>>): string {
  let path = ''
  for (const part of parts) {
    if (typeof part === 'string') path += part
    else if (values[part.name] === undefined && part.isOptional) path = path.replace(/(?<=.)\/$/, part.name === '*' ? '/' : '')
    else path += part.name === '*' ? segments(values['*']) : segment(part.name, values[part.name])
  }
  return path
}

const segments = (value: unknown): string => String(value).split('/').map(each => segment('*', each)).join('/')

function segment (name: string, value: unknown): string {
  if (value === undefined) throw new ToolError(`The argument "${name}" is missing: it is a part of the path`)
  const text = typeof value === 'object' ? '' : String(value)
  if (text === '' || text === '.' || text === '..') {
    throw new ToolError(`The argument "${name}" must be a text that can be a part of a path, not ${JSON.stringify(value)}`)
  }
  try {
    return encodeURIComponent(text)
  } catch {
    throw new ToolError(`The argument "${name}" has half of a character`)
  }
}
