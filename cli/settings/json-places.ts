import { printParseErrorCode, stripComments, visit } from 'jsonc-parser'

/** A place in a text, counted from 1. */
export interface Place { line: number, column: number }

/** Text that is not JSON: where, and what to do. */
export class JsonError extends Error {
  override readonly name = 'JsonError'
  readonly place: Place

  constructor (place: Place, message: string) {
    super(message)
    this.place = place
  }
}

/** The JSON text with spaces in place of its comments. */
export const withoutComments = (text: string): string => stripComments(text, ' ')

/** Finds each member of a JSON text by its path, such as `apiKeys.0.hash`. Throws a JsonError at the first mistake. */
export const placesOf = (text: string): Map<string, Place> => read(text).places

/** A name that an object has twice: of these, JSON.parse silently takes the last. */
export interface Repeated { name: string, place: Place, first: Place }

/** Finds the names that an object of a JSON text has twice. Throws a JsonError at the first mistake. */
export const repeatedNames = (text: string): Repeated[] => read(text).repeated

function read (text: string): { places: Map<string, Place>, repeated: Repeated[] } {
  const [places, repeated, objects] = [new Map<string, Place>(), [] as Repeated[], [] as Array<Map<string, Place>>]
  visit(text, {
    onObjectBegin: () => { objects.push(new Map()) },
    onObjectEnd: () => { objects.pop() },
    onObjectProperty (name, _offset, _length, line, character, pathOf) {
      const place = { line: line + 1, column: character + 1 }
      const names = objects.at(-1)
      const first = names?.get(name)
      if (first === undefined) names?.set(name, place)
      else repeated.push({ name, place, first })
      places.set([...pathOf(), name].join('.'), place)
    },
    onError (code, offset, length, line, character) {
      // Of a string with a wrong \\, the parser names the start.
      const within = text
        .slice(offset, offset + length)
        .replace(/\\(["\\/bfnrt]|u[\da-f]{4})/gi, escape => ' '.repeat(escape.length))
        .indexOf('\\')
      throw new JsonError(
        { line: line + 1, column: character + Math.max(0, within) + 1 },
        explain(printParseErrorCode(code), text, offset + Math.max(0, within))
      )
    }
  })
  return { places, repeated }
}

const REASONS: Record<string, string> = {
  PropertyNameExpected: 'a name in double quotes is expected',
  ValueExpected: 'a value is missing before this',
  ColonExpected: 'a colon is missing before this',
  CommaExpected: 'a comma is missing before this',
  EndOfFileExpected: 'the JSON value ends before this',
  UnexpectedEndOfString: 'the " at the end of this string is missing',
  InvalidCharacter: 'this string has a control character, which is written as in "\\n"'
}

/** Says what is wrong at an offset, in words for what people write that is not JSON. */
function explain (code: string, text: string, offset: number): string {
  const rest = text.slice(offset)
  const found = /^(\w{1,40}|[^])/u.exec(rest)?.[0] ?? ''
  if (rest === '') return 'the JSON ends too early'
  if (/^\/\*/.test(rest)) return 'the */ at the end of this comment is missing'
  if (/^[#/]/.test(rest)) return 'a comment begins with //, or with /* and ends with */'
  if (/^['‘’“”]/.test(rest)) return 'JSON has no other quotes than "'
  if (found === '\\') return 'a \\ in a string is written \\\\, as in "C:\\\\Users"'
  if ((code === 'PropertyNameExpected' && found === '}') || (code === 'ValueExpected' && found === ']')) {
    return `there is a comma too many before this: ${found}`
  }
  if (code === 'InvalidSymbol' && /^\w+\s*:/.test(rest)) return `${REASONS['PropertyNameExpected'] ?? ''}: ${found}`
  // Such as 01, which the parser takes for two numbers.
  if (code === 'CommaExpected' && /\w/.test(text.charAt(offset - 1)) && /\w/.test(found)) {
    return `this is not JSON: ${found}`
  }
  return `${REASONS[code] ?? 'this is not JSON'}: ${found}`
}
