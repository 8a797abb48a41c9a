import { Typed } from './value.js'

const NUMBER = /^(-?)(0|[1-9]\d*)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/

/**
 * The number that a text says; a `Typed` where the text says it in other letters than `String` would, or cannot be
 * sent.
 */
export function numberFrom (text: string): number | Typed {
  if (!NUMBER.test(text)) return new Typed(printable(text), undefined, 'Write a number, for example 12, -3 or 0.5.')
  const number = Number(text)
  if (canonical(text) !== canonical(String(number))) return new Typed(text, undefined, inexact(number))
  return String(number) === text ? number : new Typed(text, number)
}

function inexact (number: number): string {
  return Number.isFinite(number)
    ? `This number has more digits than can be sent exactly; the nearest that can be is ${number}.`
    : 'This number is too large to be sent.'
}

/** One text for each number: its digits without zeros at the ends, and its exponent. */
function canonical (text: string): string | undefined {
  const parts = NUMBER.exec(text)
  if (parts === null) return undefined
  const [, sign, whole = '', fraction = '', exponent = '0'] = parts
  const digits = (whole + fraction).replace(/^0+/, '')
  const significant = digits.replace(/0+$/, '')
  if (significant === '') return '0'
  return `${sign}${significant}e${Number(exponent) - fraction.length + digits.length - significant.length}`
}

/** Letters between numbers would be something else in the JSON beside the form. */
const printable = (text: string): string => /^[-+.\deE]*$/.test(text) ? text : JSON.stringify(text)
