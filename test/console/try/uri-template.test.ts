import t from 'tap'
import { expand, variablesOf } from '../../../console/try/use/uri-template.js'
import { uriTemplate } from '../../../protocol/definitions/uri-template.js'

const cases: Array<[template: string, values: Record<string, string>, uri: string]> = [
  ['notes://{id}', { id: 'a b/ü' }, 'notes://a%20b%2F%C3%BC'],
  ['file:///{+path}', { path: 'a b/c.txt' }, 'file:///a%20b/c.txt'],
  ['x://h{/a,b}', { a: '1', b: '2' }, 'x://h/1/2'],
  ['x://h{?q,page}', { q: 'a&b', page: '2' }, 'x://h?q=a%26b&page=2'],
  ['x://h{?q,page}', { page: '2' }, 'x://h?page=2'],
  ['x://h{?q}', {}, 'x://h'],
  ['x://h/a{&q}', { q: '1' }, 'x://h/a&q=1'],
  ['x://h/{name:3}', { name: 'abcdef' }, 'x://h/abc'],
  ['x://h{/parts*}', { parts: 'a,b,c' }, 'x://h/a/b/c'],
  ['x://h/a{;k}{.ext}{#part}', { k: 'v', ext: 'txt', part: 'top' }, 'x://h/a;k=v.txt#top']
]

t.test('a template with values becomes the URI that the gateway reads the same values from', async t => {
  for (const [template, values, uri] of cases) {
    t.equal(expand(template, new Map(Object.entries(values))), uri, template)
    if (!template.includes(':3')) t.strictSame(uriTemplate(template).match(uri), values, uri)
  }
})

t.test('variables are named once, and those of an optional part are not needed', async t => {
  t.strictSame(variablesOf('x://{a}/{+b}{?a,c*,d:3}'), [
    { name: 'a', required: true },
    { name: 'b', required: true },
    { name: 'c', required: false },
    { name: 'd', required: false }
  ])
  t.strictSame(variablesOf('x://plain'), [])
})

t.test('names of a prototype are names like others', async t => {
  t.equal(
    expand(
      'x://{constructor}{?__proto__}',
      new Map([
        ['constructor', 'a'],
        ['__proto__', 'b']
      ])
    ),
    'x://a?__proto__=b'
  )
  t.equal(expand('x://{toString}', new Map()), 'x://')
})
