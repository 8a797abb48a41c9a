import { inspect } from 'node:util'

/** The characters that most texts consist of: nothing has to be replaced. */
const PLAIN = /^[ -~]*$/
const CONTROL = /[\p{C}\u2028\u2029]/gu

/**
 * The beginning of a text, as a text of its own: a slice keeps all of what it was cut from in memory, as long as it is
 * kept itself.
 */
export const cutTo = (text: string, max: number): string =>
  text.length > max ? Buffer.from(text.slice(0, max), 'utf16le').toString('utf16le') : text

/**
 * The text, cut to a length, with `?` for control characters and line breaks, which a terminal or a reader of lines
 * might obey.
 */
export function oneLine (text: string, max: number): string {
  const short = cutTo(text, max)
  return PLAIN.test(short) ? short : short.replace(CONTROL, '?')
}

/** Describes a thrown value in one line: name and message of an error, and any other value as Node.js shows it. */
export function describeThrown (error: unknown, max: number): string {
  const text =
    error instanceof Error
      ? `${error.name}: ${error.message}`
      : typeof error === 'string'
        ? error
        : inspect(error, { depth: 0, breakLength: Infinity })
  return oneLine(text.slice(0, max).split(/\s*\n\s*/).join('; '), max)
}

/** Control characters, those that reorder or hide text, and half characters; line breaks are none of them. */
const HIDDEN = /(?!\n)[\p{C}\u2028\u2029]/gu

/** The text with what a terminal might obey, or a reader not see, as `\u{1b}`. */
export const visible = (text: string): string =>
  text.replace(HIDDEN, letter => `\\u{${letter.codePointAt(0)?.toString(16) ?? ''}}`)
