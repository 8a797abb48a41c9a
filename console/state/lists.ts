import { batch, signal, type Signal } from '@preact/signals'
import { isObject, type Client, type Json, type JsonObject } from '../client/contract.js'
import type { Kind } from './route.js'

/** Something that a server offers, as it was listed. */
export interface Item {
  /** The name, or the URI of a resource or template: what a request names it by. */
  key: string
  name: string
  title?: string
  description?: string
  /**
   * The upstream that the name of a tool or prompt begins with; empty for what the gateway has itself, and for
   * resources and templates, which keep the names that their servers chose.
   */
  group: string
  /** The text that the filter looks at, in lower case. */
  searched: string
  /** The definition as it came. */
  raw: JsonObject
}

interface List {
  /** `absent`: the server declares nothing of the kind. */
  state: 'loading' | 'ready' | 'failed' | 'absent'
  items: Item[]
  error?: string
}

interface Source { method: string, member: string, key: string, hasAlias: boolean, capability: string, changed: string }

/** `hasAlias`: the gateway puts the alias of the upstream before the name. */
const SOURCES: Record<Kind, Source> = {
  tool: {
    method: 'tools/list',
    member: 'tools',
    key: 'name',
    hasAlias: true,
    capability: 'tools',
    changed: 'notifications/tools/list_changed'
  },
  resource: {
    method: 'resources/list',
    member: 'resources',
    key: 'uri',
    hasAlias: false,
    capability: 'resources',
    changed: 'notifications/resources/list_changed'
  },
  template: {
    method: 'resources/templates/list',
    member: 'resourceTemplates',
    key: 'uriTemplate',
    hasAlias: false,
    capability: 'resources',
    changed: 'notifications/resources/list_changed'
  },
  prompt: {
    method: 'prompts/list',
    member: 'prompts',
    key: 'name',
    hasAlias: true,
    capability: 'prompts',
    changed: 'notifications/prompts/list_changed'
  }
}

export const KINDS = Object.keys(SOURCES) as Kind[]

export const lists: Record<Kind, Signal<List>> = {
  tool: signal<List>({ state: 'loading', items: [] }),
  resource: signal<List>({ state: 'loading', items: [] }),
  template: signal<List>({ state: 'loading', items: [] }),
  prompt: signal<List>({ state: 'loading', items: [] })
}

/**
 * Loads every list, and again each time one has changed. What was listed before stays until the new list is there.
 * Returns how to end it.
 */
export function followLists (client: Client): () => void {
  const loads = Object.fromEntries(KINDS.map(kind => [kind, 0])) as Record<Kind, number>
  let ended = false
  const load = async (kind: Kind): Promise<void> => {
    const turn = ++loads[kind]
    const list = await loadList(client, kind, items => {
      if (!ended && turn === loads[kind]) lists[kind].value = { state: 'loading', items }
    })
    if (!ended && turn === loads[kind]) lists[kind].value = list
  }
  for (const kind of KINDS) void load(kind)
  const off = client.onNotification(method => {
    for (const kind of KINDS) if (SOURCES[kind].changed === method) void load(kind)
  })
  return () => { ended = true; off() }
}

/** Forgets what was listed, for another caller. */
export function clearLists (): void {
  batch(() => { for (const kind of KINDS) lists[kind].value = { state: 'loading', items: [] } })
}

/** A first list is shown while its other pages come, but not redrawn for each of them. */
const REDRAW_MS = 250

async function loadList (client: Client, kind: Kind, show: (items: Item[]) => void): Promise<List> {
  const { method, member, capability } = SOURCES[kind]
  if (!(capability in client.server.capabilities)) return { state: 'absent', items: [] }
  try {
    const isFirst = lists[kind].peek().items.length === 0
    let shownAt = -Infinity
    const all = await listAll(client, method, member, some => {
      if (!isFirst || performance.now() - shownAt < REDRAW_MS) return
      shownAt = performance.now()
      show(itemsOf(some, kind))
    })
    return { state: 'ready', items: itemsOf(all, kind) }
  } catch (error) {
    return {
      state: 'failed',
      items: lists[kind].peek().items,
      error: error instanceof Error ? error.message : String(error)
    }
  }
}

/** Items by their key; of two with the same one, the first counts. */
export function itemsOf (all: JsonObject[], kind: Kind): Item[] {
  const { key, hasAlias } = SOURCES[kind]
  const found = new Map<string, Item>()
  for (const raw of all) {
    const own = raw[key]
    if (typeof own === 'string' && !found.has(own)) found.set(own, itemOf(own, raw, hasAlias))
  }
  return [...found.values()]
}

function itemOf (key: string, raw: JsonObject, hasAlias: boolean): Item {
  const name = typeof raw.name === 'string' ? raw.name : key
  const title = titleOf(raw)
  const description = typeof raw.description === 'string' ? raw.description : undefined
  const searched = [key, name, title, description].join('\n').toLowerCase()
  return {
    key,
    name,
    group: hasAlias ? groupOf(name) : '',
    searched,
    raw,
    ...(title === undefined ? {} : { title }),
    ...(description === undefined ? {} : { description })
  }
}

function titleOf ({ title, annotations }: JsonObject): string | undefined {
  if (typeof title === 'string' && title !== '') return title
  const annotated = isObject(annotations) ? annotations.title : undefined
  return typeof annotated === 'string' && annotated !== '' ? annotated : undefined
}

const groupOf = (name: string): string => /^(.+?)__./.exec(name)?.[1] ?? ''

/** A list that never ends is cut here. */
const MAX_PAGES = 1_000

/** Every item of a list, whatever its pages; `some` hears of them page by page. */
export async function listAll (
  client: Client,
  method: string,
  member: string,
  some: (items: JsonObject[]) => void = () => {}
): Promise<JsonObject[]> {
  const all: JsonObject[] = []
  let cursor: Json | undefined
  for (let page = 0; page < MAX_PAGES; page++) {
    const result: JsonObject = await client.request(method, cursor === undefined ? {} : { cursor })
    const items = result[member]
    // One by one: a page may have more items than a call can have arguments.
    for (const item of Array.isArray(items) ? items : []) if (isObject(item)) all.push(item)
    some(all)
    if (typeof result.nextCursor !== 'string') return all
    cursor = result.nextCursor
  }
  return all
}
