import { didYouMean } from '../../../lib/nearest-name.js'
import type { HttpRequest } from '../../../transports/client/http/http-exchange.js'
import type { Parameter } from '../document/parameters.js'
import { setMember, type Json } from '../document/references.js'
import type { Operation } from '../operations/operation.js'
import { encodeBody } from './body.js'
import { encode, headerText, pathText, queryPairs } from './styles.js'

/** The arguments of a call cannot be sent; the message says which, and why. */
export class WrongArguments extends Error {
  override readonly name = 'WrongArguments'
}

/** The parts of every request that the entry sets. */
export interface Fixed {
  readonly query: string
  /** Names and values in turn. */
  readonly headers: readonly string[]
  /** The names of members of the query, and of cookies. */
  readonly setQuery: ReadonlySet<string>
  readonly setCookies: ReadonlySet<string>
}

/** The characters that the value of a header may have. */
const FORBIDDEN = /[^\t\x20-\x7e\x80-\xff]/
const ACCEPT = 'application/json, text/*;q=0.9, */*;q=0.8'

/** The HTTP request of a call. Throws `WrongArguments`. */
export function toRequest (operation: Operation, args: Json, fixed: Fixed): HttpRequest {
  checkNames(operation, args)
  try {
    return requestWith(operation, args, fixed)
  } catch (error) {
    if (!(error instanceof URIError)) throw error
    throw new WrongArguments('there is half of a character in a text, which cannot be sent')
  }
}

function requestWith (operation: Operation, args: Json, fixed: Fixed): HttpRequest {
  const pairs = fixed.query === '' ? [] : [fixed.query]
  const cookies: string[] = []
  const headers = ['accept', ACCEPT, 'accept-encoding', 'identity']
  const inPath = new Map<string, string>()
  for (const [argument, parameter] of operation.parameters) {
    const value = valueOf(argument, args)
    if (value === undefined || value === null) continue
    const given = parameter.isJson ? JSON.stringify(value) : value
    if (parameter.in === 'path') inPath.set(parameter.name, segmentOf(argument, parameter, given))
    else if (parameter.in === 'query') pairs.push(...notSet(argument, queryPairs(parameter.name, given, parameter), fixed.setQuery))
    else if (parameter.in === 'header') headers.push(parameter.name, headerOf(argument, parameter, given))
    else cookies.push(...cookieOf(argument, parameter, given, fixed.setCookies))
  }
  addFixed(headers, fixed.headers, cookies)
  const path = pathOf(operation.path, inPath, pairs)
  const method = operation.method as HttpRequest['method']
  const encoded = bodyOf(operation, args)
  if (encoded === undefined) return { method, path, headers, isDecompressed: true }
  headers.push('content-type', encoded.contentType)
  return { method, path, headers, isDecompressed: true, body: encoded.body }
}

/** An argument, which may have the name of what every object inherits. */
const valueOf = (name: string, args: Json): unknown => Object.hasOwn(args, name) ? args[name] : undefined

function checkNames ({ parameters, body, required }: Operation, args: Json): void {
  // A member of the body may be null.
  const absent = required.filter(name => {
    const value = valueOf(name, args)
    return value === undefined || (value === null && parameters.has(name))
  })
  if (absent.length > 0) throw new WrongArguments(`${absent.join(', ')} ${absent.length === 1 ? 'is' : 'are'} required`)
  for (const name of Object.keys(args)) {
    if (parameters.has(name) || body?.members.has(name) === true || body?.argument === name) continue
    const known = [...parameters.keys(), ...body?.members ?? [], ...body?.argument === undefined ? [] : [body.argument]]
    throw new WrongArguments(`there is no argument "${name.slice(0, 100)}"${didYouMean(name, known)}`)
  }
}

/** A value as a part of the path: it adds no segment, leaves none out and climbs out of none. */
function segmentOf (argument: string, parameter: Parameter, value: unknown): string {
  const text = pathText(parameter, value)
  if (text === '' || text === '.' || text === '..') {
    throw new WrongArguments(`${argument} must not be ${text === '' ? 'empty' : `"${text}"`}: it is a part of the path`)
  }
  return text
}

function headerOf (argument: string, { explode }: Parameter, value: unknown): string {
  const text = headerText(value, explode)
  if (FORBIDDEN.test(text)) {
    throw new WrongArguments(`${argument} is sent in a header, which must not have line breaks or letters outside of ISO 8859-1`)
  }
  return text
}

/** A cookie; the members of an exploded value stand between `&`, as the specification has it. */
function cookieOf (argument: string, parameter: Parameter, value: unknown, set: ReadonlySet<string>): string[] {
  const pairs = notSet(argument, queryPairs(parameter.name, value, { ...parameter, allowReserved: false }), set)
  return pairs.length === 0 ? [] : [pairs.join('&')]
}

/** Refuses members of an object that would stand beside those of the entry, which an API may take in their place. */
function notSet (argument: string, pairs: string[], set: ReadonlySet<string>): string[] {
  if (set.size === 0) return pairs
  const known = new Set([...set].map(plainName))
  const names = pairs.map(pair => decodeURIComponent(pair.split('=', 1)[0] ?? ''))
  const taken = names.find(name => known.has(plainName(name)))
  if (taken !== undefined) throw new WrongArguments(`${argument} must not have "${taken.slice(0, 100)}", which is set already`)
  return pairs
}

/** The name as the least careful servers read it. */
const plainName = (name: string): string => name.replace(/\[.*$/s, '').toLowerCase()

/** The names of the cookies in headers, which are names and values in turn. */
export function cookieNames (headers: readonly string[]): Set<string> {
  const at = headers.findIndex((name, index) => index % 2 === 0 && name.toLowerCase() === 'cookie')
  const cookies = at === -1 ? '' : headers[at + 1] ?? ''
  return new Set(cookies.split(';').map(cookie => cookie.split('=', 1)[0]?.trim() ?? '').filter(name => name !== ''))
}

/** Adds the configured headers; the cookies of a call stand behind those of the entry. */
function addFixed (headers: string[], fixed: readonly string[], cookies: readonly string[]): void {
  const given = [...cookies]
  for (let at = 0; at + 1 < fixed.length; at += 2) {
    const [name = '', value = ''] = [fixed[at], fixed[at + 1]]
    if (name.toLowerCase() === 'cookie') given.unshift(value)
    else headers.push(name, value)
  }
  if (given.length > 0) headers.push('cookie', given.join('; '))
}

function bodyOf ({ body }: Operation, args: Json) {
  if (body === undefined) return undefined
  try {
    if (body.argument !== undefined) {
      const value = valueOf(body.argument, args)
      return value === undefined ? undefined : encodeBody(body, value)
    }
    const members: Json = {}
    for (const name of Object.keys(args)) if (body.members.has(name)) setMember(members, name, args[name])
    return body.required || Object.keys(members).length > 0 ? encodeBody(body, members) : undefined
  } catch (error) {
    if (error instanceof URIError) throw error
    throw new WrongArguments((error as Error).message)
  }
}

/** Segments that lead to another path. */
const DOTS = /(?:^|[/?])(?:\.|%2e){1,2}(?:$|[/?])/i

function pathOf (template: string, values: ReadonlyMap<string, string>, pairs: readonly string[]): string {
  const [bare = ''] = template.split('#', 1)
  const path = bare.replace(/\{([^{}]+)\}|[^\x21-\x7e]+|["<>\\^`{|}]/g, (part, name?: string) =>
    name === undefined ? encode(part) : values.get(name) ?? '')
  if (DOTS.test(path)) throw new WrongArguments('with these arguments, the path would have a segment "." or ".."')
  return pairs.length === 0 ? path : `${path}${path.includes('?') ? '&' : '?'}${pairs.join('&')}`
}
