import { isObject } from '../../protocol/wire/json.js'

/** Flags of England, Scotland and Wales: the only honest use of tag characters. */
const FLAGS = /\u{1f3f4}\u{e0067}\u{e0062}(?:\u{e0065}\u{e006e}\u{e0067}|\u{e0073}\u{e0063}\u{e0074}|\u{e0077}\u{e006c}\u{e0073})\u{e007f}/gu
const TAGS = /[\u{e0000}-\u{e007f}]+/gu
const OVERRIDES = /[\u202a-\u202e\u2066-\u2069]+/gu
/** In texts that run from right to left, and only there, these marks are usual. */
const DIRECTIONS = /[\u200e\u200f\u061c]+/gu
const RIGHT_TO_LEFT = /[\p{Script=Hebrew}\p{Script=Arabic}\p{Script=Syriac}\p{Script=Thaana}]/u
// Joiners (U+200C, U+200D) belong to Persian and Indian words and to emoji.
const INVISIBLE = /[\u200b\u2060-\u2064\ufeff\u00ad\u115f\u1160\u3164\uffa0\ufff9-\ufffb]+/gu
/** One selector says how the character before it looks; several in a row carry data. */
const SELECTORS = /[\ufe00-\ufe0f\u{e0100}-\u{e01ef}]{2,}/gu
// eslint-disable-next-line no-control-regex
const CONTROLS = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f]+/gu
/** The characters that most texts consist of. */
const PLAIN = /^[\t\n\r -~]*$/

/** The most marks of one definition. */
const MAX_MARKS = 20

/**
 * Sentences about characters in a definition that people do not see and models read: each begins with its place, and
 * has the hidden text where there is one.
 */
export function findHidden (value: unknown): string[] {
  const found: string[] = []
  visit(value, '', found)
  return found
}

function visit (value: unknown, place: string, found: string[]): void {
  if (found.length >= MAX_MARKS) return
  if (typeof value === 'string') {
    found.push(...hiddenIn(value).map(text => `${place === '' ? 'the text' : place} has ${text}`))
  } else if (Array.isArray(value)) {
    for (const [index, item] of value.entries()) visit(item, join(place, String(index)), found)
  } else if (isObject(value)) {
    for (const [name, inner] of Object.entries(value)) {
      const inName = hiddenIn(name)
      found.push(...inName.map(text => `a name in ${place === '' ? 'it' : place} has ${text}`))
      visit(inner, join(place, name), found)
    }
  }
}

const join = (place: string, name: string): string => place === '' ? name : `${place}/${name}`

function hiddenIn (given: string): string[] {
  if (PLAIN.test(given)) return []
  const text = given.replaceAll(FLAGS, '')
  const kinds: Array<[noun: string, found: RegExpMatchArray | null]> = [
    ['that change the direction of the text', text.match(OVERRIDES)],
    ['that mark a direction', RIGHT_TO_LEFT.test(text) ? null : text.match(DIRECTIONS)],
    ['that are invisible', text.match(INVISIBLE)],
    ['that select a variation, in a row', text.match(SELECTORS)],
    ['that control terminals', text.match(CONTROLS)]
  ]
  const tags = text.match(TAGS)
  return [
    ...(tags === null ? [] : [`${count(tags)} hidden tag characters, which read ${JSON.stringify(decode(tags.join('')))}`]),
    ...kinds.flatMap(([noun, found]) => found === null ? [] : [`${count(found)} characters ${noun} (${codes(found)})`])
  ]
}

const count = (found: readonly string[]): number => [...found.join('')].length

const decode = (tags: string): string =>
  [...tags].map(tag => String.fromCodePoint(Math.max(0x20, (tag.codePointAt(0) ?? 0) - 0xe0000))).join('').slice(0, 500)

/** The first of them, as Unicode writes it. */
const codes = (found: readonly string[]): string =>
  [...new Set([...found.join('')])].slice(0, 5)
    .map(letter => `U+${(letter.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}`)
    .join(', ')
