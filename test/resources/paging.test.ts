import type { FastifyInstance } from 'fastify'
import t, { type Test } from 'tap'
import { resource } from '../../app.js'
import { folder } from '../support/process.js'
import { gateway } from '../support/gateway.js'
import type { Json } from '../support/recorder.js'
import { ERAS, Speaker } from '../support/speaker.js'

/** Resources behind templates, some of which can list what they have. */
class Shelves {
  readonly #shelves = new Map<string, number[]>()

  fill (name: string, books: number[]): this {
    this.#shelves.set(name, books)
    return this
  }

  books (name: string): number[] {
    return this.#shelves.get(name) ?? []
  }

  get uris (): string[] {
    return [...this.#shelves].flatMap(([name, books]) => books.map(book => uriOf(name, book)))
  }

  readonly plugin = async ({ mcp: { resources } }: FastifyInstance): Promise<void> => {
    for (const name of this.#shelves.keys()) resources.add(this.shelf(name))
    resources.add(resource({ uri: 'b-silent:///{book}', name: 'silent', read: () => undefined }))
    for (const name of ['x', 'y']) resources.add(resource({ uri: `fixed://${name}`, name, read: () => name }))
  }

  shelf (name: string) {
    return resource({
      uri: `${name}:///{book}`,
      name,
      list: (after, size) =>
        this.books(name)
          .filter(book => after === undefined || uriOf(name, book) > after)
          .slice(0, size)
          .map(book => ({ uri: uriOf(name, book), name: `${book}` })),
      read: ({ book }) => book
    })
  }
}

const uriOf = (name: string, book: number): string => `${name}:///${String(book).padStart(3, '0')}`

async function page (speaker: Speaker, cursor?: unknown): Promise<{ uris: string[], nextCursor?: unknown }> {
  const { result } = await speaker.request('resources/list', cursor === undefined ? {} : { cursor })
  const { nextCursor } = result
  return {
    uris: (result.resources as Array<{ uri: string }>).map(({ uri }) => uri),
    ...(nextCursor === undefined ? {} : { nextCursor })
  }
}

/** Every page, with something done after each of them. */
async function pages (speaker: Speaker, between: (number: number) => unknown = () => {}): Promise<string[][]> {
  const all: string[][] = []
  let cursor: unknown
  do {
    const { uris, nextCursor } = await page(speaker, cursor)
    all.push(uris)
    cursor = nextCursor
    await between(all.length)
  } while (cursor !== undefined && all.length < 200)
  return all
}

const FIXED = ['fixed://x', 'fixed://y', 'server://counter', 'server://status']

async function library (t: Test, pageSize: number, shelves: Shelves, options: object = {}): Promise<FastifyInstance> {
  return await gateway(t, { http: false, pageSize, plugins: [shelves.plugin], ...options })
}

const FILLINGS: Array<[what: string, a: number[], c: number[], noteCount: number]> = [
  ['nothing behind any template', [], [], 0],
  ['something behind the first', [1, 2, 3], [], 0],
  ['something behind the last', [], [1, 2, 3, 4], 0],
  ['something behind each', [1, 2], [1, 2, 3], 5],
  ['one behind each', [1], [1], 1]
]

for (const pageSize of [1, 2, 3, 4, 5, 100]) {
  t.test(`in pages of ${pageSize} every resource is there once, fixed ones first`, async t => {
    const shelves = new Shelves().fill('c', []).fill('a', [])
    const app = await library(t, pageSize, shelves)
    for (const [what, a, c, noteCount] of FILLINGS) {
      shelves.fill('a', a).fill('c', c)
      const notes = await Promise.all(
        Array.from({ length: noteCount }, async () => await app.mcp.notes.add(undefined, 'a', []))
      )
      const found = await pages(new Speaker(app))
      const behind = [
        ...a.map(book => uriOf('a', book)),
        ...c.map(book => uriOf('c', book)),
        ...notes.map(({ id }) => `note:///${id}`)
      ]
      t.strictSame(found.flat(), [...FIXED, ...behind], what)
      t.ok(found.slice(0, -1).every(({ length }) => length === pageSize), `${what}: no page but the last is short`)
      for (const { id } of notes) await app.mcp.notes.delete(undefined, id)
    }
  })
}

t.test('every revision pages alike, and a cursor can be used again', async t => {
  const shelves = new Shelves().fill('a', [1, 2, 3])
  const app = await library(t, 3, shelves)
  const whole = [...FIXED, ...shelves.uris]
  for (const version of ERAS) t.strictSame((await pages(new Speaker(app, { version }))).flat(), whole, version)
  const speaker = new Speaker(app)
  const { nextCursor } = await page(speaker)
  t.strictSame((await page(speaker, nextCursor)).uris, (await page(speaker, nextCursor)).uris)
})

t.test('what is neither added nor removed is seen once, whatever else comes and goes', async t => {
  for (const pageSize of [1, 2, 3, 4, 5]) {
    const shelves = new Shelves().fill('a', [10, 20, 30, 40]).fill('c', [10, 20, 30])
    const app = await library(t, pageSize, shelves, { data: await folder(t, {}) })
    for (let count = 0; count < 6; count++) await app.mcp.notes.add(undefined, 'stays or goes', [])
    const found = await pages(new Speaker(app), async number => {
      shelves.fill(
        'a',
        [number % 10, 10, 20 + (number % 10), 30, 40]
          .filter(book => book !== 20 || number % 2 === 0)
          .sort((one, two) => one - two)
      )
      shelves.fill('c', number % 2 === 0 ? [10, 30] : [5, 10, 20, 30])
      if (number === 2) app.mcp.resources.add(resource({ uri: 'fixed://a', name: 'a', read: () => '' }))
      if (number === 3) app.mcp.resources.remove('fixed://x')
      if (number === 4) app.mcp.resources.add(new Shelves().fill('aa', [1]).shelf('aa'))
      await app.mcp.notes.delete(undefined, number % 2 === 0 ? '2' : '5')
      await app.mcp.notes.add(undefined, 'new', [])
      if (number > 30) {
        for (const { id } of (await app.mcp.notes.newest(undefined, [], 1000)).notes) {
          if (Number(id) > 6) await app.mcp.notes.delete(undefined, id)
        }
      }
    })
    const seen = found.flat()
    t.equal(new Set(seen).size, seen.length, `pages of ${pageSize}: nothing twice`)
    const stays = [
      'fixed://y',
      'server://counter',
      'server://status',
      ...[10, 30, 40].map(book => uriOf('a', book)),
      ...[10, 30].map(book => uriOf('c', book)),
      ...[1, 3, 4, 6].map(id => `note:///${id}`)
    ]
    t.strictSame(stays.filter(uri => !seen.includes(uri)), [], `pages of ${pageSize}: nothing is missing`)
  }
})

t.test('after a template is removed between two pages, the list goes on with the next one', async t => {
  const shelves = new Shelves().fill('a', [1, 2, 3, 4]).fill('c', [1, 2])
  const app = await library(t, 5, shelves)
  const found = await pages(new Speaker(app), number => { if (number === 1) app.mcp.resources.remove('a:///{book}') })
  t.strictSame(found.flat(), [...FIXED, uriOf('a', 1), uriOf('c', 1), uriOf('c', 2)])
})

t.test('a template that gives more than it was asked for, or waits, harms nothing', async t => {
  const greedy = resource({
    uri: 'greedy:///{book}',
    name: 'greedy',
    list: async after => {
      await new Promise(resolve => setImmediate(resolve))
      return [1, 2, 3, 4, 5]
        .map(book => ({ uri: uriOf('greedy', book), name: `${book}` }))
        .filter(({ uri }) => after === undefined || uri > after)
    },
    read: () => ''
  })
  const app = await gateway(t, {
    http: false,
    tools: false,
    pageSize: 2,
    plugins: [async ({ mcp: { resources } }) => resources.add(greedy)]
  })
  t.strictSame(await pages(new Speaker(app)), [
    [uriOf('greedy', 1), uriOf('greedy', 2)],
    [uriOf('greedy', 3), uriOf('greedy', 4)],
    [uriOf('greedy', 5)]
  ])
})

t.test('a list is cut to the words of the revision', async t => {
  const wordy = resource({
    uri: 'w:///{id}',
    name: 'w',
    list: () => [{ uri: 'w:///1', name: 'n', title: 'T', description: 'd', mimeType: 'text/plain', size: 3 }],
    read: () => ''
  })
  const app = await gateway(t, {
    http: false,
    tools: false,
    plugins: [async ({ mcp: { resources } }) => resources.add(wordy)]
  })
  const entry = async (version: string): Promise<Json | undefined> =>
    ((await new Speaker(app, { version }).request('resources/list')).result.resources as Json[])[0]
  for (const version of ERAS) {
    t.strictSame(
      await entry(version),
      {
        uri: 'w:///1',
        name: 'n',
        ...(version >= '2025-06-18' ? { title: 'T' } : {}),
        description: 'd',
        mimeType: 'text/plain',
        size: 3
      },
      version
    )
  }
})

t.test('a cursor of another list, or one that was changed, is refused', async t => {
  const app = await library(t, 1, new Shelves().fill('a', [1]))
  const speaker = new Speaker(app)
  const { nextCursor } = await page(speaker)
  const tools = (await speaker.request('tools/list')).result.nextCursor
  for (const cursor of [
    tools,
    `${String(nextCursor)}A`,
    '',
    '[]',
    '["a:///{book}",null]',
    JSON.stringify([null, 'x'])
  ]) {
    t.match(
      await speaker.request('resources/list', { cursor }),
      { error: { code: -32602, message: /cursor/ } },
      String(cursor)
    )
  }
})
