import t from 'tap'
import { readBearerChallenge } from '../../../protocol/http/challenge.js'

t.test('a challenge for a bearer token is read, in quotes and without, among others', async t => {
  const none = { resourceMetadata: undefined, scopes: [], error: undefined }
  for (const [header, expected] of [
    ['Bearer', none],
    ['Bearer realm="x"', none],
    ['Bearer scope="a b",error=insufficient_scope', { ...none, scopes: ['a', 'b'], error: 'insufficient_scope' }],
    [
      'Basic realm="Bearer scope=wrong", bearer resource_metadata="https://a.example/x?y=1,2" , scope="read"',
      { ...none, resourceMetadata: 'https://a.example/x?y=1,2', scopes: ['read'] }
    ],
    ['Bearer scope="a", DPoP scope="b", Bearer scope="c"', { ...none, scopes: ['a'] }],
    ['Bearer scope="a \\"b"', { ...none, scopes: ['a'] }],
    [`Bearer scope="${'x '.repeat(200)}"`, { ...none, scopes: ['x'] }]
  ] as const) t.same(readBearerChallenge(header), expected, header)
})

t.test('no challenge for a bearer token is found where there is none', async t => {
  for (const header of [undefined, '', 'Basic realm="x"', 'DPoP algs="ES256"', 'Bearerx a="b"', `Bearer ${'a'.repeat(9_000)}`]) {
    t.equal(readBearerChallenge(header), undefined)
  }
})
