import { isObject } from '../../../protocol/wire/json.js'
import type { Parameter, Style } from '../document/parameters.js'

/** Percent-encodes all but the characters that RFC 3986 calls unreserved. */
export const encode = (text: string): string =>
  encodeURIComponent(text).replace(/[!'()*]/g, letter => `%${letter.charCodeAt(0).toString(16).toUpperCase()}`)

/** The reserved characters that do not end a part of a query. */
const KEPT = /%(?:3A|2F|3F|40|21|24|27|28|29|2A|2C|3B|5B|5D)/g
const encodeReserved = (text: string): string => encode(text).replace(KEPT, decodeURIComponent)

type Encode = (text: string) => string

/** The value as text: what is no text, number or truth value is JSON. */
export const plain = (value: unknown): string =>
  typeof value === 'string' ? value : typeof value === 'object' ? JSON.stringify(value) : String(value)

const isGiven = (value: unknown): boolean => value !== undefined && value !== null

const SEPARATORS: Partial<Record<Style['style'], string>> = {
  spaceDelimited: '%20',
  tabDelimited: '%09',
  pipeDelimited: '%7C'
}

/** The members of a query or form that a value becomes, as `name=value`; none where it is empty. */
export function queryPairs (name: string, value: unknown, style: Style): string[] {
  const write: Encode = style.allowReserved ? encodeReserved : encode
  const pair = (key: string, item: unknown): string => `${encode(key)}=${write(plain(item))}`
  if (style.style === 'deepObject' && typeof value === 'object') return deepPairs(name, value, pair)
  if (Array.isArray(value)) {
    const items = value.filter(isGiven)
    if (items.length === 0) return []
    if (style.explode) return items.map(item => pair(name, item))
    return [`${encode(name)}=${items.map(item => write(plain(item))).join(SEPARATORS[style.style] ?? ',')}`]
  }
  if (!isObject(value)) return isGiven(value) ? [pair(name, value)] : []
  const members = Object.entries(value).filter(([, item]) => isGiven(item))
  if (members.length === 0) return []
  if (style.explode) return members.map(([key, item]) => pair(key, item))
  return [`${encode(name)}=${members.flat().map(item => write(plain(item))).join(SEPARATORS[style.style] ?? ',')}`]
}

/** `name[key]=value` for each value, however deep it lies: a message is not nested deeper than its limit. */
function deepPairs (name: string, value: unknown, pair: (key: string, item: unknown) => string): string[] {
  if (!isGiven(value)) return []
  if (typeof value !== 'object') return [pair(name, value)]
  return Object.entries(value as object).flatMap(([key, item]) => deepPairs(`${name}[${key}]`, item, pair))
}

/** The text in the place of a parameter of a path (RFC 6570). */
export function pathText ({ name, style, explode }: Pick<Parameter, 'name' | 'style' | 'explode'>, value: unknown): string {
  const [start, between] = style === 'label' ? ['.', explode ? '.' : ','] : style === 'matrix' ? [';', explode ? ';' : ','] : ['', ',']
  const isMatrix = style === 'matrix'
  const items = partsOf(value, explode, encode)
  if (!isMatrix) return start + items.join(between)
  if (explode && isObject(value)) return start + items.join(between)
  if (explode && Array.isArray(value)) return start + items.map(item => `${encode(name)}=${item}`).join(between)
  return `;${encode(name)}${items.join(',') === '' ? '' : `=${items.join(',')}`}`
}

/** The value of a header, in the style `simple`: nothing is encoded. */
export const headerText = (value: unknown, explode: boolean): string => partsOf(value, explode, text => text).join(',')

function partsOf (value: unknown, explode: boolean, write: Encode): string[] {
  if (Array.isArray(value)) return value.filter(isGiven).map(item => write(plain(item)))
  if (!isObject(value)) return [write(plain(value))]
  const members = Object.entries(value).filter(([, item]) => isGiven(item))
  return members.flatMap(([key, item]) => explode
    ? [`${write(key)}=${write(plain(item))}`]
    : [write(key), write(plain(item))])
}
