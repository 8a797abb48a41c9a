import { join } from 'node:path'
import t from 'tap'
import { Unreachable } from '../../support/npm-packages.js'
import { apiServer, inFrontOfApi, latest } from './api.js'
import { unpacked } from './packages.js'

const primitive = 'x y'
const array = ['a', 'b/c']
const object = { name: 'n', description: 'd e' }

/** The query, path or header of each operation, as RFC 6570 and the table of the specification write these values. */
const WRITTEN: Record<string, string | Record<string, string>> = {
  cookies_standard: { cookie: 'primitive=x%20y; array=a&array=b%2Fc; name=n&description=d%20e' },
  cookies_form_nonExploded: { cookie: 'primitive=x%20y; array=a,b%2Fc; object=name,n,description,d%20e' },
  cookies_form_exploded: { cookie: 'primitive=x%20y; array=a&array=b%2Fc; name=n&description=d%20e' },
  headers_standard: { primitive, array: 'a,b/c', object: 'name,n,description,d e' },
  headers_simple_nonExploded: { primitive, array: 'a,b/c', object: 'name,n,description,d e' },
  headers_simple_exploded: { primitive, array: 'a,b/c', object: 'name=n,description=d e' },
  paths_standard: '/anything/path/x%20y/a,b%2Fc/name,n,description,d%20e',
  paths_matrix_nonExploded: '/anything/path/matrix/;primitive=x%20y/;array=a,b%2Fc/;object=name,n,description,d%20e',
  paths_matrix_exploded: '/anything/path/matrix/;primitive=x%20y/;array=a;array=b%2Fc/;name=n;description=d%20e',
  paths_label_nonExploded: '/anything/path/label/.x%20y/.a,b%2Fc/.name,n,description,d%20e',
  paths_label_exploded: '/anything/path/label/.x%20y/.a.b%2Fc/.name=n.description=d%20e',
  paths_simple_nonExploded: '/anything/path/simple/x%20y/a,b%2Fc/name,n,description,d%20e',
  paths_simple_exploded: '/anything/path/simple/x%20y/a,b%2Fc/name=n,description=d%20e',
  query_standard: '/anything/query?primitive=x%20y&array=a&array=b%2Fc&name=n&description=d%20e',
  query_form_nonExploded: '/anything/query/form?primitive=x%20y&array=a,b%2Fc&object=name,n,description,d%20e',
  query_form_exploded: '/anything/query/form?primitive=x%20y&array=a&array=b%2Fc&name=n&description=d%20e',
  query_spaceDelimited_nonExploded: '/anything/query/spaceDelimited?array=a%20b%2Fc&object=name%20n%20description%20d%20e',
  query_pipeDelimited_nonExploded: '/anything/query/pipeDelimited?array=a%7Cb%2Fc&object=name%7Cn%7Cdescription%7Cd%20e',
  query_deepObject_nonExploded: '/anything/query/deepObject?object%5Bname%5D=n&object%5Bdescription%5D=d%20e'
}

/** In these, styles mean nothing (OpenAPI 3.0): a list is a part for each of its values, and an object is JSON. */
const FORMS = [
  'formData_standard', 'formData_form_nonExploded', 'form_data_form_exploded', 'formData_spaceDelimited_nonExploded',
  'form_data_pipeDelimited_nonExploded', 'form_data_deepObject_exploded'
]

t.test('the 25 requests of a document of all styles are as the specification writes them, byte for byte', async t => {
  let folder: string
  try {
    folder = unpacked('@readme/oas-examples', '8.2.2', '2.0', '3.0', '3.1')
  } catch (error) {
    if (!(error instanceof Unreachable)) throw error
    process.stderr.write('NOT TESTED: the styles of @readme/oas-examples; the registry of npm cannot be reached\n')
    return t.pass('the registry cannot be reached, which was said aloud')
  }
  const api = await apiServer(t)
  const { call, app } = await inFrontOfApi(t, {
    openapi: join(folder, '3.0/json/parameters-style.json'), url: api.url, operations: { methods: ['get', 'post', 'put'] }
  })
  const names = app.mcp.tools.names().map(name => name.slice('api__'.length))
  t.strictSame([...names].sort(), [...Object.keys(WRITTEN), ...FORMS].sort())
  for (const name of names) {
    const { properties } = app.mcp.tools.get(`api__${name}`)?.listed.inputSchema as { properties: object }
    const isForm = FORMS.includes(name)
    const given = { primitive, array, object: isForm ? { foo: '1', bar: '2' } : object }
    const result = await call(name, Object.fromEntries(Object.entries(given).filter(([key]) => key in properties)))
    t.notOk(result.isError, `${name}: ${JSON.stringify(result)}`)
    const { url, headers, body } = latest(api)
    const expected = WRITTEN[name]
    if (typeof expected === 'string') t.equal(url, expected, name)
    else if (expected !== undefined) t.match(headers, expected, name)
    if (!isForm) continue
    const [, boundary = ''] = /boundary=(\S+)/.exec(headers['content-type'] ?? '') ?? []
    const part = (of: string, value: string, ...more: string[]): string =>
      ['--B', `Content-Disposition: form-data; name="${of}"`, ...more, '', value, ''].join('\r\n')
    t.equal(String(body).replaceAll(boundary, 'B'), [
      ...('primitive' in properties ? [part('primitive', primitive)] : []),
      ...array.map(item => part('array', item)),
      part('object', '{"foo":"1","bar":"2"}', 'Content-Type: application/json'),
      '--B--\r\n'
    ].join(''), name)
  }
  t.equal(api.received.length, 25)
})
