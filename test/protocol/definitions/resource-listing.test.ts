import t from 'tap'
import type { Call } from '../../../protocol/dispatch/call.js'
import { Collection } from '../../../protocol/definitions/collection.js'
import { resource, type Resource } from '../../../protocol/definitions/resource.js'
import { resourceListing } from '../../../protocol/definitions/resource-listing.js'

const CALL = {} as Call

/** Numbers behind templates: `{ a: 3 }` has `a:1` to `a:3`; undefined cannot list what it has. */
function listing (fixed: string[], behind: Record<string, number | undefined>) {
  const collections = { fixed: new Collection<Resource>('resource'), templates: new Collection<Resource>('template') }
  const asked: Array<[template: string, after: string | undefined, size: number]> = []
  for (const uri of fixed) collections.fixed.add(uri, resource({ uri, name: uri, read: () => '' }))
  const template = (name: string): Resource => resource({
    uri: `${name}:{n}`,
    name,
    read: () => '',
    ...(behind[name] === undefined
      ? {}
      : {
          list: (after, size) => {
            asked.push([name, after, size])
            const start = after === undefined ? 0 : Number(after.split(':')[1])
            return Array.from(
              { length: Math.max(0, Math.min(size, (behind[name] as number) - start)) },
              (_, index) => ({ uri: `${name}:${start + index + 1}`, name: '' })
            )
          }
        })
  })
  for (const name of Object.keys(behind)) collections.templates.add(`${name}:{n}`, template(name))
  const { page } = resourceListing(unfiltered(collections.fixed), collections.templates, () => true)
  const uris = async (after: string | undefined, size: number) => {
    const { items, last } = await page(after, size, CALL)
    return { uris: items.map(({ listed }) => String(listed['uri'])), last }
  }
  return { ...collections, asked, uris, behind, template }
}

async function all ({ uris }: Pick<ReturnType<typeof listing>, 'uris'>, size: number): Promise<string[][]> {
  const pages: string[][] = []
  let after: string | undefined
  do {
    const page = await uris(after, size)
    pages.push(page.uris)
    after = page.last
  } while (after !== undefined && pages.length < 100)
  return pages
}

const SHELVES: Array<[fixed: string[], behind: Record<string, number | undefined>]> = [
  [[], {}],
  [['x:1'], {}],
  [['x:1', 'x:2', 'x:3'], { a: 0 }],
  [[], { a: 5 }],
  [['x:1', 'x:2'], { c: 2, a: 3, b: undefined }],
  [['x:1'], { a: 0, b: 0, c: 1 }],
  [['x:1', 'x:2'], { a: 1, b: 1, c: 1, d: 0 }]
]

t.test('the pages together are fixed resources, then what is behind each template, each once', async t => {
  for (const [fixed, behind] of SHELVES) {
    const whole = [
      ...fixed,
      ...Object.keys(behind)
        .sort()
        .flatMap(name => Array.from({ length: behind[name] ?? 0 }, (_, index) => `${name}:${index + 1}`))
    ]
    for (let size = 1; size <= 9; size++) {
      const pages = await all(listing(fixed, behind), size)
      t.strictSame(pages.flat(), whole, `${JSON.stringify(behind)} in pages of ${size}`)
      t.ok(pages.slice(0, -1).every(({ length }) => length === size), 'full but for the last')
    }
  }
})

t.test('a list holds copies of the definitions of the author', async t => {
  const entry = { uri: 'a:1', name: 'one' }
  const templates = new Collection<Resource>('template')
  templates.add('a:{n}', resource({ uri: 'a:{n}', name: 'a', list: () => [entry], read: () => '' }))
  const {
    items: [item]
  } = await resourceListing(unfiltered(new Collection<Resource>('resource')), templates, () => true).page(
    undefined,
    5,
    CALL
  )
  t.strictSame(item?.listed, entry)
  t.not(item?.listed, entry)
})

t.test('no more is asked for than fits, and one to know whether there is more', async t => {
  const { uris, asked } = listing(['x:1', 'x:2'], { a: 10, b: 10 })
  const { last } = await uris(undefined, 5)
  await uris(last, 5)
  t.strictSame(asked, [['a', undefined, 4], ['a', 'a:3', 6]])
})

t.test('a page goes on behind a template after what was seen, whatever was removed before it', async t => {
  const shelves = listing([], { a: 3, b: 2 })
  const { last } = await shelves.uris(undefined, 2)
  shelves.templates.add(
    '0:{n}',
    resource({ uri: '0:{n}', name: '0', list: () => [{ uri: '0:1', name: '' }], read: () => '' })
  )
  t.strictSame((await shelves.uris(last, 9)).uris, ['a:3', 'b:1', 'b:2'], 'what was added before is not seen')
  shelves.templates.remove('a:{n}')
  t.strictSame((await shelves.uris(last, 9)).uris, ['b:1', 'b:2'])
})

t.test('a template that comes in between is seen from its start', async t => {
  const shelves = listing([], { a: 3, c: 1 })
  const { last } = await shelves.uris(undefined, 2)
  shelves.behind['b'] = 2
  shelves.templates.add('b:{n}', shelves.template('b'))
  t.strictSame((await shelves.uris(last, 9)).uris, ['a:3', 'b:1', 'b:2', 'c:1'])
})

t.test('a template that turns up with the URI of a removed one goes on after what was seen', async t => {
  const shelves = listing([], { a: 4 })
  const { last } = await shelves.uris(undefined, 2)
  shelves.templates.remove('a:{n}')
  shelves.templates.add('a:{n}', shelves.template('a'))
  t.strictSame((await shelves.uris(last, 9)).uris, ['a:3', 'a:4'])
})

t.test('a template whose list fails fails the page', async t => {
  const templates = new Collection<Resource>('template')
  templates.add('a:{n}', resource({ uri: 'a:{n}', name: 'a', list: () => { throw new Error('down') }, read: () => '' }))
  await t.rejects(
    resourceListing(unfiltered(new Collection<Resource>('resource')), templates, () => true).page(undefined, 5, CALL),
    { message: 'down' }
  )
})

function unfiltered (fixed: Collection<Resource>) {
  return { page: (after: string | undefined, size: number) => fixed.page(after, size) }
}
