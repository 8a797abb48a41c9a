import t from 'tap'
import { aliasOf } from '../../../upstreams/config/alias.js'

const aliases: Array<[key: string, alias: string]> = [
  ['files', 'files'],
  ['GitHub', 'github'],
  ['Brave Search', 'brave-search'],
  ['my__server', 'my-server'],
  ['@scope/server-x', 'scope-server-x'],
  ['7zip', 'server-7zip'],
  ['-a-', 'a'],
  ['Café', 'cafe'],
  ['a.b_c', 'a-b-c'],
  ['https://example.com/mcp', 'https-example-com-mcp']
]

for (const [key, alias] of aliases) {
  t.test(`the server "${key}" is ${alias} in URLs and tools`, async t => t.equal(aliasOf(key), alias))
}

t.test(
  'every key gives a name of lower-case letters, digits and single dashes, of at most 32 characters, and always the same',
  async t => {
    for (const key of [
      '',
      ' ',
      '日本語',
      '💾',
      '__proto__',
      'x'.repeat(500),
      `${'long-'.repeat(20)}a`,
      `${'long-'.repeat(20)}b`,
      '\u0000',
      '..',
      '/'
    ]) {
      t.match(aliasOf(key), /^[a-z][a-z0-9]*(-[a-z0-9]+)*$/, key)
      t.ok(aliasOf(key).length <= 32, key)
      t.equal(aliasOf(key), aliasOf(key))
    }
    t.not(aliasOf('日本語'), aliasOf('中文'), 'two keys without a letter are two names')
    t.not(
      aliasOf(`${'long-'.repeat(20)}a`),
      aliasOf(`${'long-'.repeat(20)}b`),
      'so are two keys that differ at their end'
    )
  }
)
