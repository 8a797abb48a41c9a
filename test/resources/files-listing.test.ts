import { linkSync } from 'node:fs'
import { mkdir, rename, rm, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { bestTime, timeOf } from '../support/timing.js'
import { names, pages, read, serving, tree, uriOf, type Listed } from '../support/environment/tree.js'

t.test('files are listed by name, what is in a folder in the place of the folder', async t => {
  const root = await tree(
    t,
    Object.fromEntries(['b', 'a/z', 'a/b/c', 'a-b', 'a.txt', 'B', 'ä', 'c/x', '🙂', '\uffee'].map(name => [name, '']))
  )
  await mkdir(join(root, 'empty/nothing/here'), { recursive: true })
  const { client } = await serving(t, [root])
  // By UTF-16 code units, where an emoji comes before the last characters of the first plane.
  t.strictSame(await names(client), ['B', 'a/b/c', 'a/z', 'a-b', 'a.txt', 'b', 'c/x', 'ä', '🙂', '\uffee'])
})

for (const pageSize of [1, 2, 3, 7, 100]) {
  t.test(`pages of ${pageSize} together are the whole list`, async t => {
    const files = ['0', '1/1', '1/2/a', '1/2/b', '1/3', '2', '3/a/b/c/d', '3/a/b/e', '4', '5/a', '5/b', '6']
    const root = await tree(t, Object.fromEntries(files.map(name => [name, name])))
    const { client } = await serving(t, [root], { pageSize })
    const all = await pages(client)
    t.strictSame(all.flat().map(({ name }) => name), files)
    t.ok(all.every(page => page.length <= pageSize))
  })
}

t.test('paging shows every file that was there all the time once', async t => {
  const files = Array.from({ length: 40 }, (_, count) => `f${String(count >> 2).padStart(2, '0')}/${count}`).sort()
  const root = await tree(t, Object.fromEntries(files.map(name => [name, ''])))
  const { client } = await serving(t, [root], { pageSize: 5 })
  const gone: string[] = []
  const all = await pages(client, async page => {
    if (page < 7) {
      // The one that the next page goes on after, and one of the next page.
      gone.push(files[page * 5 - 2] as string, files[page * 5 + 2] as string)
      for (const name of gone.slice(-2)) await rm(join(root, name), { force: true })
      await writeFile(join(root, `new-${page}`), '')
      await writeFile(join(root, 'f00', `new-${page}`), '')
    }
    if (page === 3) await rm(join(root, 'f03'), { recursive: true, force: true })
  })
  const seen = all.flat().map(({ name }) => name)
  t.equal(new Set(seen).size, seen.length, 'none is seen twice')
  const stayed = files.filter(name => !gone.includes(name) && !name.startsWith('f03'))
  t.strictSame(stayed.filter(name => !seen.includes(name)), [])
})

t.test('a page goes on where a file has become a folder, and a folder a file', async t => {
  const root = await tree(t, { a: '', 'b/1': '', 'b/2': '', c: '' })
  // The counter and the status of the server come before them.
  const { client } = await serving(t, [root], { pageSize: 4 })
  const all = await pages(client, async page => {
    if (page !== 1) return
    await rm(join(root, 'b'), { recursive: true })
    await writeFile(join(root, 'b'), '')
    await rm(join(root, 'c'))
    await mkdir(join(root, 'c'))
    await writeFile(join(root, 'c', 'x'), '')
  })
  t.strictSame(all.flat().map(({ name }) => name), ['a', 'b/1', 'c/x'])
})

const ODD = [
  'a b',
  '100%',
  '%41',
  '%2e%2e',
  '%2F',
  'a#b',
  'a?b',
  'a,b',
  'a;b=c',
  'a&b',
  'a+b',
  '~',
  '{path}',
  '[x]',
  '(y)',
  'ä',
  'e\u0301',
  '日本',
  '🙂',
  'new\nline',
  'tab\t',
  'quo"te',
  "apo'strophe",
  'back\\slash',
  'a:b',
  '...',
  '.x',
  ' ',
  '-rf',
  '\u202e',
  '\u0001',
  '*',
  '|',
  '<>',
  '^',
  '`',
  'x@y',
  'C:',
  '\ufffd',
  '\ufeff'
]

t.test(
  'every name leads from the list to the file',
  { skip: process.platform === 'win32' && 'Windows allows few of these names' },
  async t => {
    const root = await tree(
      t,
      Object.fromEntries(
        ODD.flatMap(name => [
          [name, name],
          [`folder of ${name}/${name}`, name]
        ])
      )
    )
    const { client } = await serving(t, [root], { pageSize: 13 })
    const all = (await pages(client)).flat()
    t.equal(all.length, 2 * ODD.length)
    for (const { uri, name } of all) {
      t.match(await read(client, uri), { uri, text: name.split('/').at(-1) }, JSON.stringify(name))
    }
  }
)

t.test(
  'a name that is not text is left out, with what is below it',
  { skip: process.platform !== 'linux' && 'only Linux takes any bytes as a name' },
  async t => {
    const root = await tree(t, { good: '', 'odd \ufffd': 'text' })
    const odd = Buffer.from([0x2f, 0x6f, 0x64, 0x64, 0x20, 0xff])
    await writeFile(Buffer.concat([Buffer.from(root), odd]), 'bytes')
    await mkdir(Buffer.concat([Buffer.from(root), odd, odd.subarray(1)]))
    const { client } = await serving(t, [root])
    t.strictSame(await names(client), ['good', 'odd \ufffd'])
    t.match(await read(client, uriOf(root, 'odd \ufffd')), { text: 'text' })
  }
)

t.test('a file whose URI cannot be requested is not listed', async t => {
  const root = await tree(t, { short: '' })
  const long = Array.from({ length: 12 }, () => 'x'.repeat(200)).join('/')
  await mkdir(join(root, long), { recursive: true })
  await writeFile(join(root, long, 'deep'), '')
  await writeFile(join(root, 'x'.repeat(200), 'ä'.repeat(100)), '')
  const { client } = await serving(t, [root])
  const all = (await pages(client)).flat()
  t.equal(all.length, 2)
  for (const { uri } of all) t.match(await read(client, uri), { text: '' })
})

t.test('a file that goes after it was listed is not there, and a folder that goes is empty', async t => {
  const root = await tree(t, { 'sub/a': '' })
  const { client } = await serving(t, [root])
  const [file] = (await pages(client)).flat() as [Listed]
  await rename(join(root, 'sub/a'), join(root, 'sub/b'))
  await t.rejects(read(client, file.uri), { code: -32002 })
  await rm(root, { recursive: true })
  t.strictSame(await names(client), [])
})

t.test('links in circles end', async t => {
  const root = await tree(t, { 'a/b/c': '' })
  await symlink('..', join(root, 'a/b/up'))
  await symlink(root, join(root, 'a/all'))
  const { client } = await serving(t, [root])
  t.strictSame(await names(client), ['a/b/c'])
})

t.test('the first page of a folder with 20,000 files comes quickly, and so does the last', async t => {
  const root = await tree(t, { 10_000: '' })
  for (let count = 10_001; count < 30_000; count++) linkSync(join(root, '10000'), join(root, `${count}`))
  const { client, app: { mcp: { folders: [folder] } } } = await serving(t, [root], { pageSize: 10 })
  const { signal } = new AbortController()
  const first = await bestTime(1_000, async () => await timeOf(async () => {
    const { resources } = await client.request('resources/list', {}) as { resources: unknown[] }
    t.equal(resources.length, 10)
  }))
  const last = await bestTime(1_000, async () => await timeOf(async () => {
    t.strictSame(
      (await folder?.list(uriOf(root, '29996'), 100, signal))?.map(({ path }) => path),
      ['29997', '29998', '29999']
    )
  }))
  t.ok(first < 1_000 && last < 1_000, `${first} ms and ${last} ms`)
})
