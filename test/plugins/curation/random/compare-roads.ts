import type { Json } from '../../../support/specification/message.js'
import { NEW_NAMES, type Configuration, type Kind } from './configuration.js'
import { answerOf, referenceOf, uriOf } from './reference.js'

/** Sends a request, and gives its answer. */
export type Ask = (method: string, params?: Json) => Promise<Json>

/** A way to use a thing by its name: it answers with the canonical name of what was used. */
export interface Road {
  readonly kind: Kind
  readonly method: string
  readonly params: (name: string) => Json
  readonly used: (result: Json) => unknown
}

export const text = (value: unknown): unknown => (value as Json | undefined)?.text

/** All ways to use a thing. What is used by another way has to have a row here. */
export const ROADS: Road[] = [
  {
    kind: 'tools',
    method: 'tools/call',
    params: name => ({ name }),
    used: ({ content }) => text((content as unknown[])[0])
  },
  {
    kind: 'prompts',
    method: 'prompts/get',
    params: name => ({ name }),
    used: ({ messages }) => text((messages as Json[])[0]?.content)
  },
  {
    kind: 'prompts',
    method: 'completion/complete',
    params: name => ({ ref: { type: 'ref/prompt', name }, argument: { name: 'a', value: '' } }),
    used: ({ completion }) => (completion as { values: string[] }).values[0]
  },
  {
    kind: 'resources',
    method: 'resources/read',
    params: uri => ({ uri }),
    used: ({ contents }) => text((contents as unknown[])[0])
  }
]

const LISTS: Record<Kind, { method: string, key: 'name' | 'uri' }> = {
  tools: { method: 'tools/list', key: 'name' },
  prompts: { method: 'prompts/list', key: 'name' },
  resources: { method: 'resources/list', key: 'uri' }
}

const MISSING = 'xyzzy'

/** Finds what a list has otherwise than the reference. */
export async function compareList (configuration: Configuration, kind: Kind, ask: Ask): Promise<string[]> {
  const { method, key } = LISTS[kind]
  const { result } = await ask(method)
  const listed = ((result as Json)[kind] as Json[]).map(entry => entry[key]).join()
  const expected = referenceOf(configuration, kind).filter(({ fate }) => fate === 'seen').map(({ name }) => name)
  return listed === expected.sort().join() ? [] : [`${method} has ${listed}, not ${expected.join()}`]
}

/** Finds the names of things whose use is answered otherwise than the reference says. */
export async function compareRoad (configuration: Configuration, road: Road, ask: Ask): Promise<string[]> {
  const reference = referenceOf(configuration, road.kind)
  const seen = new Set(reference.filter(({ fate }) => fate === 'seen').map(({ name }) => name))
  const missing = await use(road, MISSING, ask)
  const found: string[] = []
  const names = configuration.items
    .filter(({ kind }) => kind === road.kind)
    .flatMap(item => [item.canonical, item.kind === 'resources' ? uriOf(item) : item.own])
  for (const name of new Set([...names, ...NEW_NAMES, 'serch'])) {
    const { item, fate, isDenied } = reference.find(each => each.name === name) ??
      reference.find(({ item }) => item.canonical === name) ??
      { item: undefined, fate: 'unknown' as const, isDenied: false }
    const { answer, suggested } = await use(road, name, ask)
    const isRefused = isDenied && road.method !== 'completion/complete'
    const own = isRefused ? 'denied' : item && answerOf(item, configuration.view)
    const expected = { seen: own, forbidden: 'forbidden', unknown: missing.answer }[fate]
    if (answer !== expected) found.push(`${road.method} ${name} answers ${answer}, not ${expected}`)
    found.push(...suggested.filter(each => !seen.has(each)).map(each => `${name}: ${each} is suggested`))
  }
  return found
}

/** The name of what was used, or the error without the name and without what it suggests. */
async function use (road: Road, name: string, ask: Ask): Promise<{ answer: unknown, suggested: string[] }> {
  const { result, error } = (await ask(road.method, road.params(name))) as { result?: Json, error?: Json }
  if (String(Object(error?.data).code) === 'PATCHBAY_NOT_ALLOWED') return { answer: 'denied', suggested: [] }
  if (result !== undefined) return { answer: deniedOr(road.used(result)), suggested: [] }
  if (String(error?.message).startsWith('Forbidden')) return { answer: 'forbidden', suggested: [] }
  const whole = JSON.stringify(error)
  const [suggestion = ''] = /; did you mean .*?\?/.exec(String(error?.message)) ?? []
  const suggested = [...suggestion.matchAll(/"([^"]+)"/g)].map(([, each = '']) => each)
  const answer = whole.replace(JSON.stringify(suggestion).slice(1, -1), '').replaceAll(name, 'NAME')
  return { answer, suggested }
}

const deniedOr = (answer: unknown): unknown => String(answer).startsWith('this call is not allowed') ? 'denied' : answer
