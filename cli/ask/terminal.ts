import { visible } from '../../lib/one-line.js'

/** Text of a server as a terminal may show it: what it would obey is made visible, tabs and line breaks stay. */
export const shown = (text: string): string => text.replaceAll('\r\n', '\n').split('\t').map(visible).join('\t')

/** Control characters, those that reorder or hide text, and those without a meaning; tabs and line breaks are none. */
const OBEYED = /(?![\t\n])[\p{C}\u2028\u2029]/gu

/** JSON as a terminal may show it: the same values, with what it would obey as `\\u009b`. */
export const shownJson = (json: string): string =>
  json.replace(OBEYED, letter => letter.split('').map(unit => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`).join(''))

/** Text of a server in one line. */
export const shownInLine = (text: string): string => visible(text.replace(/\s+/g, ' ').trim())

const WIDE =
  /[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]|\p{Emoji_Presentation}/u

/** How many columns a text without control characters takes. */
export function widthOf (text: string): number {
  let width = 0
  for (const letter of text) width += /\p{M}/u.test(letter) ? 0 : WIDE.test(letter) ? 2 : 1
  return width
}

/** The text, cut with `…` where it takes more columns. */
export function fitted (text: string, columns: number): string {
  if (widthOf(text) <= columns) return text
  let cut = ''
  let width = 1
  for (const letter of text) {
    width += widthOf(letter)
    if (width > columns) break
    cut += letter
  }
  return `${cut}…`
}

export const padded = (text: string, columns: number): string => text + ' '.repeat(Math.max(0, columns - widthOf(text)))

/** The lines of a text in so many columns, each after the indent. */
export function wrapped (text: string, columns: number, indent: string): string[] {
  return text.split('\n').flatMap(line => {
    const lines: string[] = []
    let current = ''
    for (const word of line.split(' ')) {
      if (current !== '' && widthOf(indent) + widthOf(current) + 1 + widthOf(word) > columns) {
        lines.push(current)
        current = word
      } else current = current === '' ? word : `${current} ${word}`
    }
    return [...lines, current].map(part => `${indent}${part}`.trimEnd())
  })
}

/** A size in words. */
export function sizeInWords (bytes: number): string {
  if (bytes < 1_000) return `${bytes} ${bytes === 1 ? 'byte' : 'bytes'}`
  return bytes < 1_000_000 ? `${(bytes / 1_000).toFixed(1)} kB` : `${(bytes / 1_000_000).toFixed(1)} MB`
}
