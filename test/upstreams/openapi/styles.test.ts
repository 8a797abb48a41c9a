import t from 'tap'
import type { Style } from '../../../upstreams/openapi/document/parameters.js'
import { headerText, pathText, queryPairs } from '../../../upstreams/openapi/request/styles.js'
import { apiServer, documentOf, fileOf, inFrontOfApi, latest } from './api.js'

const LIST = ['blue', 'black', 'brown']
const OBJECT = { R: 100, G: 200, B: 150 }

/** The columns of the table of the specification: an empty text, a text, a list and an object. */
const VALUES = ['', 'blue', LIST, OBJECT]

const PATHS: Array<[style: Style['style'], explode: boolean, ...written: string[]]> = [
  ['matrix', false, ';color', ';color=blue', ';color=blue,black,brown', ';color=R,100,G,200,B,150'],
  ['matrix', true, ';color', ';color=blue', ';color=blue;color=black;color=brown', ';R=100;G=200;B=150'],
  ['label', false, '.', '.blue', '.blue,black,brown', '.R,100,G,200,B,150'],
  ['label', true, '.', '.blue', '.blue.black.brown', '.R=100.G=200.B=150'],
  ['simple', false, '', 'blue', 'blue,black,brown', 'R,100,G,200,B,150'],
  ['simple', true, '', 'blue', 'blue,black,brown', 'R=100,G=200,B=150']
]

const QUERIES: Array<[style: Style['style'], explode: boolean, ...written: string[]]> = [
  ['form', false, 'color=', 'color=blue', 'color=blue,black,brown', 'color=R,100,G,200,B,150'],
  ['form', true, 'color=', 'color=blue', 'color=blue&color=black&color=brown', 'R=100&G=200&B=150'],
  ['spaceDelimited', false, 'color=', 'color=blue', 'color=blue%20black%20brown', 'color=R%20100%20G%20200%20B%20150'],
  ['spaceDelimited', true, 'color=', 'color=blue', 'color=blue&color=black&color=brown', 'R=100&G=200&B=150'],
  ['pipeDelimited', false, 'color=', 'color=blue', 'color=blue%7Cblack%7Cbrown', 'color=R%7C100%7CG%7C200%7CB%7C150'],
  ['pipeDelimited', true, 'color=', 'color=blue', 'color=blue&color=black&color=brown', 'R=100&G=200&B=150']
]

t.test('a path, a query and a header have each kind of value as their table says', async t => {
  for (const [style, explode, ...written] of PATHS) {
    const found = VALUES.map(value => pathText({ name: 'color', style, explode }, value))
    t.strictSame(found, written, `${style} ${explode ? 'exploded' : ''}`)
    if (style === 'simple') t.strictSame(VALUES.map(value => headerText(value, explode)), written)
  }
  for (const [style, explode, ...written] of QUERIES) {
    const found = VALUES.map(value => queryPairs('color', value, { style, explode, allowReserved: false }).join('&'))
    t.strictSame(found, written, `${style} ${explode ? 'exploded' : ''}`)
  }
  for (const empty of [[], {}, null, undefined, [null]]) {
    t.strictSame(queryPairs('color', empty, { style: 'form', explode: true, allowReserved: false }), [])
  }
})

t.test('allowReserved keeps what does not end a part of the query', async t => {
  const text = "a/b?c:d@e!f$g'h(i)j*k,l;m[n]&=+#% \u00e9"
  const write = (allowReserved: boolean): string => queryPairs('q', text, { style: 'form', explode: true, allowReserved }).join()
  t.equal(write(true), "q=a/b?c:d@e!f$g'h(i)j*k,l;m[n]%26%3D%2B%23%25%20%C3%A9")
  t.equal(write(false), 'q=a%2Fb%3Fc%3Ad%40e%21f%24g%27h%28i%29j%2Ak%2Cl%3Bm%5Bn%5D%26%3D%2B%23%25%20%C3%A9')
  for (const allowReserved of [true, false]) {
    t.equal(new URLSearchParams(queryPairs('q', text, { style: 'form', explode: true, allowReserved }).join()).get('q'), text)
  }
})

t.test('a parameter with a media type is JSON, and a list of files is a part for each', async t => {
  const api = await apiServer(t)
  const json = { content: { 'application/json': { schema: { type: 'object' } } } }
  const files = { type: 'array', items: { type: 'string', format: 'binary' } }
  const paths = {
    '/a/{where}': { get: { operationId: 'get', parameters: [{ name: 'where', in: 'path', ...json }, { name: 'filter', in: 'query', ...json }, { name: 'X-Filter', in: 'header', ...json }] } },
    '/files': { post: { operationId: 'files', requestBody: { content: { 'multipart/form-data': { schema: { type: 'object', properties: { files } } } } } } }
  }
  const { call } = await inFrontOfApi(t, { openapi: fileOf(t, documentOf(paths)), url: api.url, operations: { methods: ['get', 'post'] } })
  await call('get', { where: { a: 1 }, filter: { list: [1, 'x'] }, 'X-Filter': ['a'] })
  const { url, headers } = latest(api)
  t.equal(url, '/a/%7B%22a%22%3A1%7D?filter=%7B%22list%22%3A%5B1%2C%22x%22%5D%7D')
  t.equal(headers['x-filter'], '["a"]')
  await call('files', { files: ['AA==', '/w=='] })
  const [, boundary = ''] = /boundary=(\S+)/.exec(latest(api).headers['content-type'] ?? '') ?? []
  const part = ['Content-Disposition: form-data; name="files"; filename="files"', 'Content-Type: application/octet-stream', '']
  t.equal(latest(api).body.toString('latin1').replaceAll(boundary, 'B'), ['--B', ...part, '\0', '--B', ...part, '\xff', '--B--', ''].join('\r\n'))
})
