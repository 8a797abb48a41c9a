import { isObject, type Json } from '../client/contract.js'
import type { FieldError } from './check.js'
import type { Draft } from './draft.js'
import { MAX_DEPTH } from './model/initial.js'
import { membersOf } from './model/members.js'
import { textOf } from './model/schema.js'
import { shapeOf } from './model/shape.js'
import { below, namesOf, type Pointer, type Value } from './model/value.js'

/** More fields than this are not looked for in a refusal. */
const MAX_FIELDS = 1_000
/** More schemas than this are not looked at for them: several may be of one field. */
const MAX_VISITS = 10_000
/** More sentences and errors than this are of no help. */
const MAX_ERRORS = 50
/** A longer text is no list of what is wrong. */
const MAX_TEXT = 20_000

/**
 * Finds what a refusal says about fields of the draft: an error's message and `data`, or the texts of a result with
 * `isError`. Understood are this gateway's sentences, and lists of `{ path, message }` as other servers send them.
 */
export function refusalErrors (draft: Draft, message: string, data?: Json): FieldError[] {
  const fields = fieldsOf(draft)
  const details = isObject(data) ? textOf(data.details) : undefined
  const text = (details ?? message).slice(0, MAX_TEXT)
  const listed = [...issuesIn(data, 0), ...issuesIn(jsonIn(text), 0)]
    .filter(({ at }) => fields.has(at))
    .slice(0, MAX_ERRORS)
  return listed.length > 0 ? listed : sentencesIn(text, fields)
}

/** Every field of a draft, also those left out, with the name that sentences use: `list.0.name`. */
function fieldsOf ({ schema, value }: Draft): Map<Pointer, string> {
  const found = new Map<Pointer, string>()
  let left = MAX_VISITS
  const visit = (part: Json | undefined, member: Value | undefined, at: Pointer, depth: number): void => {
    if (left-- <= 0 || depth > MAX_DEPTH || found.size >= MAX_FIELDS || at.length > MAX_TEXT) return
    found.set(at, namesOf(at).join('.'))
    const shape = shapeOf(part, schema)
    for (const variant of shape.variants) visit(variant.schema, member, at, depth + 1)
    if (Array.isArray(member)) {
      member.forEach((item, index) => visit(shape.schema.items, item, below(at, index), depth + 1))
    } else if (member instanceof Map || member === undefined) {
      for (const { name, schema: inner } of membersOf(shape.schema, member)) {
        visit(inner, member?.get(name), below(at, name), depth + 1)
      }
    }
  }
  visit(schema, value, '', 0)
  return found
}

/** `{ path: ['a', 0], message: '…' }` and its cousins, anywhere in the data. */
function issuesIn (data: Json | undefined, depth: number): FieldError[] {
  if (depth > 4) return []
  if (Array.isArray(data)) return data.flatMap(part => issuesIn(part, depth + 1))
  if (!isObject(data)) return []
  const at = pointerFrom(
    data.path ?? data.instancePath ?? data.instanceLocation ?? data.pointer ?? data.loc ?? data.field
  )
  const message = textOf(data.message) ?? textOf(data.msg) ?? textOf(data.error)
  if (at !== undefined && message !== undefined) return [{ at, message }]
  return Object.values(data).flatMap(part => issuesIn(part, depth + 1))
}

function pointerFrom (path: Json | undefined): Pointer | undefined {
  if (Array.isArray(path)) return path.reduce<Pointer>((at, name) => below(at, String(name)), '')
  if (typeof path !== 'string') return undefined
  const pointer = path.replace(/^#/, '')
  return pointer === '' || pointer.startsWith('/') ? pointer : pointer.split('.').reduce(below, '')
}

function jsonIn (text: string): Json | undefined {
  const begin = text.indexOf('[')
  if (begin === -1) return undefined
  try { return JSON.parse(text.slice(begin, text.lastIndexOf(']') + 1)) } catch { return undefined }
}

/**
 * `a.b must be number; "c" is missing`: each sentence that begins with the name of a field, or says which one is
 * missing.
 */
function sentencesIn (text: string, fields: Map<Pointer, string>): FieldError[] {
  const names = [...fields].filter(([at]) => at !== '').sort(([, one], [, other]) => other.length - one.length)
  const sentences = text.replace(/^Invalid params: /, '').replace(/^arguments of .*?: /, '').split('; ', MAX_ERRORS)
  return sentences.flatMap(sentence => {
    const place = names.find(([at, name]) => isAbout(sentence, at, name))
    return place === undefined ? [] : [{ at: place[0], message: sentence }]
  })
}

function isAbout (sentence: string, at: Pointer, name: string): boolean {
  const last = namesOf(at).at(-1) ?? ''
  const outside = name.slice(0, -last.length - 1)
  const missing = `${outside === '' ? '' : `${outside}: `}"${last}" is missing`
  return (
    sentence === missing ||
    sentence.startsWith(`${name} `) ||
    sentence.startsWith(`${name}: `) ||
    sentence.startsWith(`"${name}" `)
  )
}
