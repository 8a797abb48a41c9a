import t from 'tap'
import { apiServer, documentOf, fileOf, inFrontOfApi, latest } from './api.js'

const ARRAY = ['blue', 'black', 'brown']
const OBJECT = { R: 100, G: 200, B: 150 }

/** Each style with and without `explode`, as the table of the OpenAPI specification and RFC 6570 write it. */
const STYLES: Array<[place: string, style: string, explode: boolean, array: string, object: string]> = [
  ['path', 'simple', false, '/x/blue,black,brown/y', '/x/R,100,G,200,B,150/y'],
  ['path', 'simple', true, '/x/blue,black,brown/y', '/x/R=100,G=200,B=150/y'],
  ['path', 'label', false, '/x/.blue,black,brown/y', '/x/.R,100,G,200,B,150/y'],
  ['path', 'label', true, '/x/.blue.black.brown/y', '/x/.R=100.G=200.B=150/y'],
  ['path', 'matrix', false, '/x/;color=blue,black,brown/y', '/x/;color=R,100,G,200,B,150/y'],
  ['path', 'matrix', true, '/x/;color=blue;color=black;color=brown/y', '/x/;R=100;G=200;B=150/y'],
  ['query', 'form', false, '?color=blue,black,brown', '?color=R,100,G,200,B,150'],
  ['query', 'form', true, '?color=blue&color=black&color=brown', '?R=100&G=200&B=150'],
  ['query', 'spaceDelimited', false, '?color=blue%20black%20brown', '?color=R%20100%20G%20200%20B%20150'],
  ['query', 'pipeDelimited', false, '?color=blue%7Cblack%7Cbrown', '?color=R%7C100%7CG%7C200%7CB%7C150'],
  ['query', 'deepObject', true, '?color%5B0%5D=blue&color%5B1%5D=black&color%5B2%5D=brown', '?color%5BR%5D=100&color%5BG%5D=200&color%5BB%5D=150'],
  ['header', 'simple', false, 'blue,black,brown', 'R,100,G,200,B,150'],
  ['header', 'simple', true, 'blue,black,brown', 'R=100,G=200,B=150'],
  ['cookie', 'form', false, 'color=blue,black,brown', 'color=R,100,G,200,B,150'],
  ['cookie', 'form', true, 'color=blue&color=black&color=brown', 'R=100&G=200&B=150']
]

t.test('each style, exploded or not, is written as its table says, byte for byte', async t => {
  const api = await apiServer(t)
  const paths = Object.fromEntries(STYLES.map(([place, style, explode], index) => [
    place === 'path' ? `/x/{color}/y${'#'.repeat(index + 1)}` : `/${index}`,
    { get: { operationId: `of${index}`, parameters: [{ name: 'color', in: place, required: true, style, explode, schema: {} }] } }
  ]))
  const { call } = await inFrontOfApi(t, { openapi: fileOf(t, documentOf(paths)), url: api.url })
  for (const [index, [place, style, explode, array, object]] of STYLES.entries()) {
    for (const [value, expected] of [[ARRAY, array], [OBJECT, object]] as const) {
      const result = await call(`of${index}`, { color: value })
      t.notOk(result.isError, JSON.stringify(result))
      const { url: sent, headers } = latest(api)
      const found = place === 'header' ? headers['color'] : place === 'cookie' ? headers.cookie : place === 'path' ? sent : sent.slice(sent.indexOf('?'))
      t.equal(found, expected, `${place} ${style} ${explode ? 'exploded' : ''}`)
    }
  }
})

const MULTI = { methods: ['get', 'post', 'put', 'patch', 'delete'] }
const body = (type: string, schema: object, more: object = {}): object =>
  ({ requestBody: { required: true, content: { [type]: { schema, ...more } } } })

t.test('a name in the path and in the body is two arguments, and both arrive where they belong', async t => {
  const api = await apiServer(t)
  const pet = { type: 'object', required: ['id'], properties: { id: { type: 'integer' }, name: { type: 'string' }, secret: { type: 'string', readOnly: true } } }
  const id = { name: 'id', in: 'path', required: true, schema: { type: 'string' } }
  const operation = { operationId: 'put', parameters: [id, { name: 'id', in: 'query', schema: {} }], ...body('application/json', pet) }
  const { call, tool } = await inFrontOfApi(t, {
    openapi: fileOf(t, documentOf({ '/pets/{id}': { put: operation } })), url: `${api.url}/v1?key=k-12345678`, operations: MULTI
  })
  t.strictSame(Object.keys((await tool('put')).inputSchema.properties), ['id__path', 'id__query', 'id', 'name'])
  await call('put', { id__path: 'a b', id__query: 'q', id: 7, name: 'Rex' })
  const { method, url, headers, body: sent } = latest(api)
  t.equal(`${method} ${url}`, 'PUT /v1/pets/a%20b?key=k-12345678&id=q')
  t.equal(headers['content-type'], 'application/json')
  t.equal(String(sent), '{"id":7,"name":"Rex"}')
})

t.test('a value never adds a segment to the path, nor takes one away', async t => {
  const api = await apiServer(t)
  const { call } = await inFrontOfApi(t, { openapi: fileOf(t, documentOf({ '/a/{id}/b': { get: { operationId: 'get' } } })), url: api.url })
  for (const [id, path] of [['../admin', '/a/..%2Fadmin/b'], ['a/b', '/a/a%2Fb/b'], ['%2e%2e', '/a/%252e%252e/b'], ['a?b#c', '/a/a%3Fb%23c/b']] as const) {
    await call('get', { id })
    t.equal(latest(api).url, path)
  }
  const before = api.received.length
  for (const id of ['..', '.', '', []]) t.match(await call('get', { id }), { isError: true, content: [{ text: /^Wrong arguments: id must not be/ }] })
  t.match(await call('get'), { isError: true, content: [{ text: 'Wrong arguments: id is required' }] })
  t.match(await call('get', { id: 'x', idd: 1 }), { isError: true, content: [{ text: /there is no argument "idd"; did you mean "id"\?/ }] })
  t.equal(api.received.length, before, 'nothing was sent')
})

t.test('headers of arguments have no line breaks, and the ones of the gateway are not for callers', async t => {
  const api = await apiServer(t)
  const names = ['X-Trace', 'Host', 'Content-Length', 'Authorization', 'Cookie', 'X-Forwarded-For', 'X-Api-Key']
  const parameters = [
    ...names.map(name => ({ name, in: 'header', schema: { type: 'string' } })),
    { name: 'session', in: 'cookie', schema: { type: 'string' } }
  ]
  const { call, tool } = await inFrontOfApi(t, {
    openapi: fileOf(t, documentOf({ '/': { get: { operationId: 'get', parameters } } })),
    url: api.url,
    headers: { 'X-Api-Key': 'of-the-operator', Cookie: 'own=1' }
  })
  t.strictSame(Object.keys((await tool('get')).inputSchema.properties), ['X-Trace', 'session'])
  for (const wrong of ['a\r\nHost: b', 'a\nb', 'a\0b', '\u0100']) {
    t.match(await call('get', { 'X-Trace': wrong }), { isError: true, content: [{ text: /header, which must not have line breaks/ }] })
  }
  t.match(await call('get', { Authorization: 'mine' }), { isError: true })
  t.equal(api.received.length, 0)
  await call('get', { 'X-Trace': 'caf\u00e9', session: 'a;b=c' })
  t.match(latest(api).headers, { 'x-api-key': 'of-the-operator', cookie: 'own=1; session=a%3Bb%3Dc', authorization: undefined })
})

t.test('members of an object never stand beside the query and the cookies of the entry', async t => {
  const api = await apiServer(t)
  const parameters = [
    { name: 'filter', in: 'query', style: 'form', explode: true, schema: { type: 'object' } },
    { name: 'more', in: 'cookie', explode: true, schema: { type: 'object' } },
    { name: 'own', in: 'cookie', schema: { type: 'string' } }
  ]
  const { call, tool } = await inFrontOfApi(t, {
    openapi: fileOf(t, documentOf({ '/': { get: { operationId: 'get', parameters } } })),
    url: `${api.url}?api_key=of-the-operator`,
    headers: { Cookie: 'a=b; own=1' }
  })
  t.strictSame(Object.keys((await tool('get')).inputSchema.properties), ['filter', 'more'])
  for (const filter of [{ api_key: 'mine' }, { API_KEY: 'mine' }, { 'api_key[]': 'mine' }]) {
    t.match(await call('get', { filter }), { isError: true, content: [{ text: /^Wrong arguments: filter must not have "api_key.*", which is set already/i }] })
  }
  t.match(await call('get', { more: { x: 1, own: 2 } }), { isError: true, content: [{ text: /more must not have "own", which is set already/ }] })
  t.equal(api.received.length, 0)
  await call('get', { filter: { page: 2 }, more: { x: 1 } })
  t.match(latest(api), { url: '/?api_key=of-the-operator&page=2', headers: { cookie: 'a=b; own=1; x=1' } })
})

t.test('forms, files and patches arrive as from a hand-written request', async t => {
  const api = await apiServer(t)
  const text = { type: 'string' }
  const paths = {
    '/form': { post: { operationId: 'form', ...body('application/x-www-form-urlencoded', { type: 'object', properties: { name: text, tags: { type: 'array', items: text }, at: { type: 'object' } } }, { encoding: { at: { style: 'deepObject', explode: true } } }) } },
    '/files': { post: { operationId: 'files', ...body('multipart/form-data', { type: 'object', properties: { 'a"b': text, meta: { type: 'object' }, file: { type: 'string', format: 'binary' } } }, { encoding: { file: { contentType: 'image/png' } } }) } },
    '/patch': { patch: { operationId: 'patch', ...body('application/json-patch+json', { type: 'array', items: { type: 'object' } }) } },
    '/bytes': { post: { operationId: 'bytes', ...body('application/octet-stream', { type: 'string', format: 'binary' }) } },
    '/text': { post: { operationId: 'text', ...body('text/plain', text) } }
  }
  const { call } = await inFrontOfApi(t, { openapi: fileOf(t, documentOf(paths)), url: api.url, operations: MULTI })
  const sent = async (name: string, args: Record<string, unknown>): Promise<string> => {
    const result = await call(name, args)
    t.notOk(result.isError, JSON.stringify(result))
    return `${latest(api).headers['content-type']}\n${latest(api).body.toString('latin1')}`
  }
  t.equal(await sent('form', { name: 'a b&c', tags: ['x', 'y'], at: { x: { y: 1 } } }), 'application/x-www-form-urlencoded\nname=a%20b%26c&tags=x&tags=y&at%5Bx%5D%5By%5D=1')
  const multipart = await sent('files', { 'a"b': 'x', meta: { n: 1 }, file: Buffer.from([0, 255]).toString('base64') })
  const [, boundary = ''] = /boundary=(\S+)/.exec(multipart) ?? []
  t.equal(multipart.replaceAll(boundary, 'B'), [
    'multipart/form-data; boundary=B\n--B', 'Content-Disposition: form-data; name="a%22b"', '', 'x', '--B',
    'Content-Disposition: form-data; name="meta"', 'Content-Type: application/json', '', '{"n":1}', '--B',
    'Content-Disposition: form-data; name="file"; filename="file"', 'Content-Type: image/png', '', '\0\xff', '--B--', ''
  ].join('\r\n'))
  t.equal(await sent('patch', { body: [{ op: 'add' }] }), 'application/json-patch+json\n[{"op":"add"}]')
  t.equal(await sent('bytes', { body: 'AP8=' }), 'application/octet-stream\n\0\xff')
  t.equal(await sent('text', { body: 'hello' }), 'text/plain\nhello')
  t.match(await call('bytes', { body: 'no base64!' }), { isError: true })
})

t.test('Swagger 2.0 has its own ways to write the same', async t => {
  const api = await apiServer(t)
  const list = (collectionFormat: string) => ({ name: collectionFormat, in: 'query', type: 'array', items: { type: 'string' }, collectionFormat })
  const { call } = await inFrontOfApi(t, {
    openapi: fileOf(t, {
      swagger: '2.0',
      info: {},
      basePath: '/base',
      paths: {
        '/lists': { get: { operationId: 'lists', parameters: ['csv', 'ssv', 'tsv', 'pipes', 'multi'].map(list) } },
        '/body': { post: { operationId: 'body', parameters: [{ name: 'it', in: 'body', required: true, schema: { $ref: '#/definitions/It' } }] } },
        '/upload': { post: { operationId: 'upload', consumes: ['multipart/form-data'], parameters: [{ name: 'f', in: 'formData', type: 'file' }] } }
      },
      definitions: { It: { type: 'object', properties: { self: { $ref: '#/definitions/It' }, n: { type: 'integer', minimum: 0, exclusiveMinimum: true } } } }
    }),
    url: `${api.url}/other`,
    operations: MULTI
  })
  await call('lists', Object.fromEntries(['csv', 'ssv', 'tsv', 'pipes', 'multi'].map(name => [name, ['a', 'b']])))
  t.equal(latest(api).url, '/other/lists?csv=a,b&ssv=a%20b&tsv=a%09b&pipes=a%7Cb&multi=a&multi=b')
  await call('body', { n: 1, self: { n: 2 } })
  t.equal(String(latest(api).body), '{"n":1,"self":{"n":2}}')
  await call('upload', { f: 'AA==' })
  t.match(latest(api).headers['content-type'], /^multipart\/form-data; boundary=/)
})

t.test('nothing of the caller reaches the API but the arguments of the tool', async t => {
  const api = await apiServer(t)
  const { client } = await inFrontOfApi(t, { openapi: fileOf(t, documentOf({ '/': { get: { operationId: 'get' } } })), url: api.url })
  await client.request('tools/call', { name: 'api__get', arguments: {}, _meta: { 'example.com/secret': 'meta-of-caller' } })
  const { method, url, headers, body: sent } = latest(api)
  t.strictSame(Object.keys(headers).sort(), ['accept', 'accept-encoding', 'connection', 'host', 'user-agent'])
  t.notMatch(JSON.stringify([method, url, headers, String(sent)]), /meta-of-caller/)
})

t.test('what every object inherits is no argument, and an object cannot set what the entry sets', async t => {
  const api = await apiServer(t)
  const parameter = (name: string, more: object = {}): object => ({ name, in: 'query', schema: {}, ...more })
  const cookie = { name: 'c', in: 'cookie', allowReserved: true, schema: {} }
  const parameters = [parameter('constructor', { required: true }), parameter('filter'), parameter('toString'), cookie]
  const { call } = await inFrontOfApi(t, {
    openapi: fileOf(t, documentOf({ '/a': { get: { operationId: 'get', parameters } } })), url: `${api.url}/?key=k-12345678`
  })
  t.match(await call('get', {}), { isError: true, content: [{ text: /constructor is required/ }] })
  await call('get', { constructor: 1, filter: { size: 2 }, c: 'a; admin=1' })
  t.equal(latest(api).url, '/a?key=k-12345678&constructor=1&size=2')
  t.equal(latest(api).headers.cookie, 'c=a%3B%20admin%3D1')
  for (const filter of [{ key: 'mine' }, '\ud800', { '\ud800': 1 }]) {
    t.match(await call('get', { constructor: 1, filter }), { isError: true, content: [{ text: /^Wrong arguments: / }] })
  }
})
