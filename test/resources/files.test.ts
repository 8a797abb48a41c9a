import { appendFile, chmod, mkdir, symlink, writeFile } from 'node:fs/promises'
import { join, relative } from 'node:path'
import t from 'tap'
import { build, createClient } from '../../app.js'
import { modernMeta } from '../support/modern.js'
import { names, pages, read, serving, tree, uriOf, type Listed } from '../support/environment/tree.js'

const NGINX = 'user nginx;\nworker_processes auto;\n'

t.test('a configuration file is listed and read as plain text, in every revision', async t => {
  const root = await tree(t, { 'nginx/nginx.conf': NGINX })
  const uri = uriOf(root, 'nginx', 'nginx.conf')
  for (const protocolVersion of ['2024-11-05', '2025-11-25']) {
    const { client } = await serving(t, [root], { protocolVersion })
    t.strictSame((await pages(client)).flat(), [{ uri, name: 'nginx/nginx.conf', mimeType: 'text/plain', size: 35 }])
    t.strictSame(await client.request('resources/read', { uri }), {
      contents: [{ uri, mimeType: 'text/plain', text: NGINX }]
    })
    t.match(await client.request('resources/templates/list'), {
      resourceTemplates: [{ uriTemplate: `${uriOf(root)}/{+path}` }]
    })
  }
})

t.test('the revision without a handshake reads the same, and has its own code for what is not there', async t => {
  const root = await tree(t, { 'a.txt': 'text' })
  const app = await build({ roots: [root] })
  t.teardown(async () => await app.close())
  const ask = async (uri: string) =>
    (
      await app.inject({
        method: 'POST',
        url: '/mcp',
        headers: {
          'mcp-protocol-version': '2026-07-28',
          'mcp-method': 'resources/read',
          'mcp-name': uri,
          accept: 'application/json, text/event-stream'
        },
        payload: { jsonrpc: '2.0', id: 1, method: 'resources/read', params: { uri, _meta: modernMeta() } }
      })
    ).json<object>()
  t.match(await ask(uriOf(root, 'a.txt')), {
    result: { contents: [{ mimeType: 'text/plain', text: 'text' }], ttlMs: 0, cacheScope: 'private' }
  })
  t.match(await ask(uriOf(root, 'b.txt')), { error: { code: -32602 } })
})

const CONTENTS: Array<[name: string, bytes: string | number[], contents: object]> = [
  ['empty', '', { mimeType: 'text/plain', text: '' }],
  ['README', 'no type\n', { mimeType: 'text/plain', text: 'no type\n' }],
  ['a.log', 'log', { mimeType: 'text/plain', text: 'log' }],
  ['a.ini', 'ini', { mimeType: 'text/plain', text: 'ini' }],
  ['.hidden', 'x', { mimeType: 'text/plain', text: 'x' }],
  ['index.html', '<p>', { mimeType: 'text/html', text: '<p>' }],
  ['a.json', '{}', { mimeType: 'application/json', text: '{}' }],
  ['a.ts', 'const a = 1', { mimeType: 'text/plain', text: 'const a = 1' }],
  ['movie.ts', [0x47, 0, 0xff], { mimeType: 'video/mp2t', blob: 'RwD/' }],
  ['windows.txt', '\ufeffa\r\nb\r\n', { mimeType: 'text/plain', text: '\ufeffa\r\nb\r\n' }],
  ['unicode.txt', 'é – 🙂', { text: 'é – 🙂' }],
  ['nul.txt', [0x61, 0, 0x62], { mimeType: 'text/plain', blob: 'YQBi' }],
  ['latin1.txt', [0xe9], { mimeType: 'text/plain', blob: '6Q==' }],
  ['cut.txt', [0xf0, 0x9f, 0x99], { mimeType: 'text/plain', blob: '8J+Z' }],
  ['pixel.png', [0x89, 0x50, 0x4e, 0x47], { mimeType: 'image/png', blob: 'iVBORw==' }],
  ['unknown', [0xff], { mimeType: 'application/octet-stream', blob: '/w==' }]
]

t.test('text is text and everything else is bytes, untouched', async t => {
  const root = await tree(
    t,
    Object.fromEntries(
      CONTENTS.map(([name, bytes]) => [name, typeof bytes === 'string' ? bytes : Uint8Array.from(bytes)])
    )
  )
  const { client } = await serving(t, [root])
  for (const [name, , contents] of CONTENTS) t.match(await read(client, uriOf(root, name)), contents, name)
})

t.test('a file may be as large as limit maxFile, and no larger', async t => {
  const root = await tree(t, { 'fits.bin': Buffer.alloc(1_000, 255), 'grows.txt': 'x'.repeat(999) })
  const { client } = await serving(t, [root], { limits: { maxFile: 1_000 } })
  t.equal(String((await read(client, uriOf(root, 'fits.bin'))).blob).length, 1_336)
  await appendFile(join(root, 'grows.txt'), 'xx')
  const uri = uriOf(root, 'grows.txt')
  await t.rejects(read(client, uri), {
    code: -32603,
    message: 'The file is larger than 1000 bytes (limit maxFile)',
    data: { uri }
  })
})

t.test(
  'a file that hides its size is read no further than allowed',
  { skip: process.platform !== 'linux' && 'there is no /proc' },
  async t => {
    const { client } = await serving(t, ['/proc/sys/kernel', '/proc/self'], { limits: { maxFile: 40 } })
    t.match(await read(client, 'file:///proc/sys/kernel/ostype'), { text: 'Linux\n' }, 'it says that it has no bytes')
    await t.rejects(read(client, 'file:///proc/self/status'), { message: /larger than 40 bytes/ })
  }
)

t.test(
  'a file that the server may not read has its own error inside, and is left out',
  { skip: process.platform === 'win32' && 'Windows has no such permissions' },
  async t => {
    const root = await tree(t, { 'open.txt': 'open', 'closed.txt': 'closed', 'closed/a.txt': 'a' })
    await symlink('closed', join(root, 'link'))
    await chmod(root, 0o755)
    await chmod(join(root, 'closed.txt'), 0)
    await chmod(join(root, 'closed'), 0)
    const { client } = await serving(t, [root])
    const isRoot = process.getuid?.() === 0
    if (isRoot) process.seteuid?.(65_534)
    try {
      t.match(await read(client, uriOf(root, 'open.txt')), { text: 'open' })
      await t.rejects(read(client, uriOf(root, 'closed.txt')), {
        code: -32603,
        message: 'The server is not permitted to read this file'
      })
      for (const name of ['closed/a.txt', 'closed/b.txt', 'link/a.txt']) {
        await t.rejects(read(client, uriOf(root, name)), { code: -32002 }, name)
      }
      t.strictSame(await names(client), ['closed.txt', 'open.txt'])
    } finally {
      if (isRoot) process.seteuid?.(0)
      await chmod(join(root, 'closed'), 0o755)
    }
  }
)

t.test('several folders are served, and each file once', async t => {
  const root = await tree(t, {
    'a/1.txt': 'one',
    'a/inner/2.txt': 'two',
    'a/inner-not/3.txt': 'three',
    'b/4.txt': 'four',
    'c/5.txt': 'five'
  })
  await symlink(join(root, 'c'), join(root, 'a', 'link'))
  await symlink(join(root, 'b'), join(root, 'same'))
  const roots = ['a', 'a/inner', 'b', 'b/', 'same', 'a/link'].map(name => join(root, name))
  const { client, app } = await serving(t, [relative(process.cwd(), roots[0] as string), ...roots])
  t.equal(app.mcp.folders.length, 4, 'the same folder twice is one folder')
  t.strictSame(
    (await pages(client))
      .flat()
      .map(({ uri }) => uri)
      .sort(),
    [
      uriOf(root, 'a/1.txt'),
      uriOf(root, 'a/inner-not/3.txt'),
      uriOf(root, 'a/inner/2.txt'),
      uriOf(root, 'a/link/5.txt'),
      uriOf(root, 'b/4.txt')
    ]
  )
  for (const { uri } of (await pages(client)).flat()) t.match(await read(client, uri), { text: /^[a-z]+$/ }, uri)
})

t.test('a folder may have any name, and be the root of everything', async t => {
  const base = await tree(t, { 'o{d}d %41 näme?#/a.txt': 'text' })
  const root = join(base, 'o{d}d %41 näme?#')
  const { client } = await serving(t, [root])
  const [file] = (await pages(client)).flat() as [Listed]
  t.match(await read(client, file.uri), { text: 'text' })
  const everything = await serving(t, ['/'])
  t.match(await read(everything.client, file.uri), { text: 'text' })
})

t.test('a root that is not a folder is a mistake at the start that names it', async t => {
  const root = await tree(t, { 'file.txt': '' })
  for (const path of [join(root, 'missing'), join(root, 'file.txt')]) {
    await t.rejects(build({ http: false, roots: [path] }), {
      message: new RegExp(`^option roots: ${path} is not a folder`)
    })
  }
})

t.test('paths are suggested as they are typed', async t => {
  const root = await tree(t, {
    'src/app.ts': '',
    'src/api/a.ts': '',
    'src/b.ts': '',
    '100% a?.txt': '',
    'my file.txt': '',
    'äöü.txt': ''
  })
  await mkdir(join(root, 'many'))
  for (let count = 0; count < 150; count++) await writeFile(join(root, 'many', `${count}`), '')
  const { client } = await serving(t, [root])
  const complete = async (value: string) => {
    const { completion } = await client.request('completion/complete', {
      ref: { type: 'ref/resource', uri: `${uriOf(root)}/{+path}` },
      argument: { name: 'path', value }
    })
    return completion as { values: string[], total: number, hasMore: boolean }
  }
  const SUGGESTIONS: Array<[typed: string, values: string[]]> = [
    ['', ['100%25 a%3F.txt', 'many/', 'my file.txt', 'src/', 'äöü.txt']],
    ['s', ['src/']],
    ['src', ['src/']],
    ['src/', ['src/api/', 'src/app.ts', 'src/b.ts']],
    ['src/ap', ['src/api/', 'src/app.ts']],
    ['src/api/a', ['src/api/a.ts']],
    ['my f', ['my file.txt']],
    ['100%25', ['100%25 a%3F.txt']],
    ['nothing', []],
    ['nothing/x', []]
  ]
  for (const [typed, values] of SUGGESTIONS) t.strictSame((await complete(typed)).values, values, typed)
  t.match(await complete('many/'), { total: 150, hasMore: true, values: { length: 100 } })
  t.match(
    await read(client, `${uriOf(root)}/100%25 a%3F.txt`),
    { text: '' },
    'a suggestion that is put into the template as it is leads to the file'
  )
})

t.test('the data folder of the gateway is not served, wherever it lies and whatever leads to it', async t => {
  const root = await tree(t, { 'a.txt': 'text', 'kept/other.txt': 'text' })
  const data = join(root, 'kept')
  await symlink(data, join(root, 'link'))
  const app = await build({ roots: [root], data })
  t.teardown(async () => await app.close())
  const client = await createClient(app)
  await client.request('tools/call', { name: 'add_note', arguments: { content: 'nobody else is to read this' } })
  t.strictSame((await pages(client)).flat().map(({ name }) => name), ['a.txt'])
  for (const path of ['kept/patchbay.db', 'kept/patchbay.db-wal', 'kept/other.txt', 'link/patchbay.db']) {
    await t.rejects(client.request('resources/read', { uri: uriOf(root, ...path.split('/')) }), { code: -32002 }, path)
    await t.rejects(
      client.request('resources/subscribe', { uri: uriOf(root, ...path.split('/')) }),
      { code: -32002 },
      path
    )
  }
  const suggested = async (value: string) =>
    await client.request('completion/complete', {
      ref: { type: 'ref/resource', uri: `${uriOf(root)}/{+path}` },
      argument: { name: 'path', value }
    })
  t.match(await suggested('kept/'), { completion: { values: [], total: 0 } })
  t.match(await suggested('a'), { completion: { values: ['a.txt'] } })
})
