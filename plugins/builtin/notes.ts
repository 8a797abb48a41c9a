import { setImmediate as turn } from 'node:timers/promises'
import fp from 'fastify-plugin'
import { isFull, ToolError } from '../../protocol/wire/errors.js'
import type { Values } from '../../protocol/store.js'

declare module '../core/mcp.js' {
  interface Mcp {
    notes: Notes
  }
}

export interface Note { id: string, content: string, tags: string[], created: string }

/** Notes belong to the principal that wrote them; callers without one share theirs. */
export interface Notes {
  /** The longest note, in characters. */
  readonly maxLength: number
  add: (owner: string | undefined, content: string, tags: string[]) => Promise<Note>
  get: (owner: string | undefined, id: string) => Promise<Note | undefined>
  delete: (owner: string | undefined, id: string) => Promise<boolean>
  /** The newest first, with any of the tags if there are any; cut short where they become too much for one answer. */
  newest: (owner: string | undefined, tags: string[], limit: number) => Promise<{ notes: Note[], more: boolean }>
  /** The oldest first, after an id. */
  page: (owner: string | undefined, after: string | undefined, size: number) => Promise<Note[]>
  /** All ids, the newest first. */
  ids: (owner: string | undefined) => Promise<string[]>
  /** Runs when a note was added or deleted, here or by another process. */
  onChange: (listener: (id: string, owner: string | undefined) => void) => void
  /** Runs when such changes were missed, so that any note may have been added or deleted. */
  onMissedChanges: (listener: () => void) => void
}

const SPACE = 'notes'
const IDS = 'note ids'
const CHUNK = 200
const MAX_TEXT = 1_048_576

export default fp(async (fastify, { maxNotes, maxNote }: { maxNotes: number, maxNote: number }) => {
  const { values } = fastify.mcp.store

  fastify.mcp.provide('notes', {
    maxLength: maxNote,
    add: async (owner, content, tags) => {
      const space = spaceOf(owner)
      const id = String(await values.increment(IDS, space, 1))
      const note = { id, content, tags, created: new Date().toISOString() }
      await values.put(space, keyOf(id), note, { max: maxNotes }).catch(error => {
        throw isFull(error) ? tooMany(maxNotes) : error
      })
      return note
    },
    get: async (owner, id) =>
      isId(id) ? ((await values.get(spaceOf(owner), keyOf(id))) as Note | undefined) : undefined,
    delete: async (owner, id) => isId(id) && (await values.delete(spaceOf(owner), keyOf(id))),
    newest: async (owner, tags, limit) =>
      await collect(
        values,
        spaceOf(owner),
        note => tags.length === 0 || tags.some(tag => note.tags.includes(tag)),
        limit
      ),
    page: async (owner, after, size) => {
      const entries = await values.list(spaceOf(owner), {
        after: after === undefined ? undefined : keyOf(after),
        limit: size
      })
      return entries.map(({ value }) => value as Note)
    },
    ids: async owner => (await values.keys(spaceOf(owner), { descending: true })).map(idOf),
    onChange: listener => {
      const off = values.onChange((space, key) => {
        if (space === SPACE || space.startsWith(`${SPACE}/`)) {
          listener(idOf(key), space === SPACE ? undefined : space.slice(SPACE.length + 1))
        }
      })
      fastify.addHook('onClose', async () => off())
    },
    onMissedChanges: listener => {
      const off = values.onMissedChanges(listener)
      fastify.addHook('onClose', async () => off())
    }
  })
}, { name: 'patchbay-notes', dependencies: ['patchbay-mcp'] })

async function collect (
  values: Values,
  space: string,
  wanted: (note: Note) => boolean,
  limit: number
): Promise<{ notes: Note[], more: boolean }> {
  const notes: Note[] = []
  let budget = MAX_TEXT
  let after: string | undefined
  for (;;) {
    const entries = await values.list(space, { after, limit: CHUNK, descending: true })
    for (const { value } of entries) {
      const note = value as Note
      if (!wanted(note)) continue
      budget -= note.content.length
      if (notes.length === limit || (budget < 0 && notes.length > 0)) return { notes, more: true }
      notes.push(note)
    }
    if (entries.length < CHUNK) return { notes, more: false }
    after = entries.at(-1)?.key
    // Yields to other calls between chunks.
    await turn()
  }
}

const tooMany = (max: number) =>
  new ToolError(`There are ${max} notes already, which is as many as there may be (limit maxNotes); delete some first`)

const spaceOf = (owner: string | undefined): string => owner === undefined ? SPACE : `${SPACE}/${owner}`

const isId = (id: string): boolean => /^[1-9]\d{0,14}$/.test(id)

// Keys sort as text, so that the order of keys is the order of ids.
const keyOf = (id: string): string => id.padStart(15, '0')
const idOf = (key: string): string => String(Number(key))
