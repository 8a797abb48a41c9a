import { readFile, rename, symlink } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import type { Client } from '../../app.js'
import { shorten } from '../../protocol/wire/errors.js'
import { FOREIGN, hostileTree, hostileUris } from './hostile.js'
import { names, read, serving, uriOf, type Json } from '../support/environment/tree.js'

async function refusal (client: Client, method: string, uri: string): Promise<Json> {
  try {
    return { read: await client.request(method, { uri }) }
  } catch (error) {
    const { code, message, data } = error as { code: number, message: string, data: Json }
    return { code, message, data }
  }
}

t.test('nothing outside a folder can be read or watched, and all of it looks as if it were not there', async t => {
  const { base, root } = await hostileTree(t)
  const { client } = await serving(t, [root])
  const uris = hostileUris(base)
  t.ok(uris.length > 50)
  t.equal(
    await readFile(join(root, 'folder-chain', 'key.txt'), 'utf8'),
    FOREIGN,
    'a program that does not look would read it'
  )
  for (const uri of uris) {
    const shown = uri.length > 2_048 ? shorten(uri) : uri
    const absent = {
      code: -32002,
      message: `Resource not found: ${shown}`,
      data: { uri: shown, code: 'PATCHBAY_UNKNOWN_RESOURCE' }
    }
    t.strictSame(await refusal(client, 'resources/read', uri), absent, JSON.stringify(uri.slice(0, 200)))
    t.strictSame(await refusal(client, 'resources/subscribe', uri), absent)
  }
})

t.test('what leads back inside can be read', async t => {
  const { root } = await hostileTree(t)
  const { client } = await serving(t, [root])
  const found: Array<[name: string, text: string]> = [
    ['inside.txt', 'inside'],
    ['good-file', 'deep'],
    ['good-folder/deep.txt', 'deep'],
    ['good-absolute', 'inside'],
    ['out-and-in', 'inside'],
    ['self/inside.txt', 'inside'],
    ['up/served/inside.txt', 'inside'],
    ['a%2fb.txt', 'literal'],
    ['sub/..%2f..%2fsecret.txt', 'an odd name']
  ]
  for (const [name, text] of found) {
    t.match(await read(client, uriOf(root, name)), { uri: uriOf(root, name), text }, name)
  }
})

t.test('only files that are inside are listed, links to folders are not followed', async t => {
  const { root } = await hostileTree(t)
  const { client } = await serving(t, [root])
  t.strictSame(await names(client), [
    'a%2fb.txt',
    'good-absolute',
    'good-file',
    'inside.txt',
    'out-and-in',
    'sub/..%2f..%2fsecret.txt',
    'sub/deep.txt'
  ])
})

t.test('only what is inside is suggested', async t => {
  const { root, base } = await hostileTree(t)
  const { client } = await serving(t, [root])
  const suggest = async (value: string) => {
    const { completion } = (await client.request('completion/complete', {
      ref: { type: 'ref/resource', uri: `${uriOf(root)}/{+path}` },
      argument: { name: 'path', value }
    })) as { completion: { values: string[] } }
    return completion.values
  }
  t.strictSame(await suggest(''), [
    'a%252fb.txt', 'empty/', 'good-absolute', 'good-file', 'good-folder/', 'inside.txt', 'out-and-in', 'sub/'
  ])
  t.strictSame(await suggest('good-folder/d'), ['good-folder/deep.txt'])
  for (const typed of [
    '../',
    '..',
    'folder-relative/',
    'folder-chain/',
    'up/',
    'slash/etc/',
    '/',
    '//',
    `${base}/`,
    '%2e%2e/',
    'sub/../',
    '..%2f',
    'sub//',
    'inside.txt/',
    'a\0/',
    '\\',
    '?',
    '%'
  ]) {
    t.strictSame(await suggest(typed), [], JSON.stringify(typed))
  }
})

t.test('devices are not files', { skip: process.platform === 'win32' && 'Windows has no device files' }, async t => {
  const { client } = await serving(t, ['/dev'])
  for (const name of ['null', 'zero', 'tty', 'stdin', 'fd/0']) {
    t.match(await refusal(client, 'resources/read', `file:///dev/${name}`), { code: -32002 }, name)
  }
})

t.test('a folder that is replaced by a link after the start leads nowhere', async t => {
  const { base, root } = await hostileTree(t)
  const { client } = await serving(t, [root])
  await rename(root, join(base, 'moved'))
  await symlink('served-evil', root)
  t.match(await refusal(client, 'resources/read', uriOf(root, 'inside.txt')), { code: -32002 })
  t.strictSame(await names(client), [])
})
