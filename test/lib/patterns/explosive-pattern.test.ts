import t from 'tap'
import { canExplode, explosivePatterns } from '../../../lib/patterns/explosive-pattern.js'

/** Each takes twice as long, or worse, for every character more: tried out with 14 and 22 of them. */
const EXPLOSIVE = [
  '^(a+)+$',
  '^(a*)*$',
  '^(?:a|a)*$',
  '^([a-z]+)*$',
  '^(\\w+\\s?)*$',
  '^(\\s*\\S+\\s*)+$',
  '^(.|\\s)*!$',
  '^(\\d|\\w)+$',
  '^("(\\\\.|[^"])*")$',
  '^((ab)+)+$',
  '^(a{1,20}){1,50}$',
  '^(a+b?)+$',
  '^(x+x+)+y$',
  '^([a-zA-Z0-9])(([\\-.]|[_]+)?([a-zA-Z0-9]+))*(@){1}[a-z0-9]+[.]{1}(([a-z]{2,3})|([a-z]{2,3}[.]{1}[a-z]{2,3}))$',
  '^(https?:\\/\\/)?([\\da-z\\.-]+)\\.([a-z\\.]{2,6})([\\/\\w \\.\\-]*)*\\/?$',
  '^(?<part>(?:[a-c]|[b-d])+)$'
]

const ORDINARY = [
  '^[a-z]+$',
  '^\\d{4}-\\d{2}-\\d{2}$',
  '^[A-Za-z0-9._@-]{1,64}$',
  '^https?://',
  '^sha256:[0-9a-f]{64}$',
  '.+',
  '^\\S+@\\S+$',
  '^[^@\\s]+@[^@\\s]+\\.[^@\\s]+$',
  '^[a-z0-9]+(-[a-z0-9]+)*$',
  '^(\\w+\\.)*\\w+$',
  '^([^,]+,)*[^,]+$',
  '^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$',
  "^[a-zA-Z0-9.!#$%&'*+/=?^_`{|}~-]+@[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?(?:\\.[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?)*$",
  '^(0|[1-9]\\d*)\\.(0|[1-9]\\d*)\\.(0|[1-9]\\d*)(?:-((?:0|[1-9]\\d*|\\d*[a-zA-Z-][0-9a-zA-Z-]*)(?:\\.(?:0|[1-9]\\d*|\\d*[a-zA-Z-][0-9a-zA-Z-]*))*))?(?:\\+([0-9a-zA-Z-]+(?:\\.[0-9a-zA-Z-]+)*))?$',
  '^(([a-zA-Z0-9]|[a-zA-Z0-9][a-zA-Z0-9\\-]*[a-zA-Z0-9])\\.)*([A-Za-z0-9]|[A-Za-z0-9][A-Za-z0-9\\-]*[A-Za-z0-9])$',
  '^((25[0-5]|2[0-4]\\d|1?\\d?\\d)(\\.(?!$)|$)){4}$',
  '^([0-9A-F]{2}:){5}[0-9A-F]{2}$',
  '^"(\\\\.|[^"\\\\])*"$',
  '^(?:[^%]|%[0-9A-Fa-f]{2})*$',
  '^(?:red|green|blue)(?:,(?:red|green|blue))*$',
  '^(\\p{L}|\\d)$',
  '^\\+?[0-9 ()-]{7,20}$',
  '^("[^"]*"|[^",]*)(,("[^"]*"|[^",]*))*$',
  '^(/[^/]+)+$',
  '^([a-z]|[0-9])*$',
  '^[!#-\\[\\]-~]{1,128}$',
  '(',
  '[',
  '^(?=.*\\d)(?=.*[a-z]).{8,}$'
]

t.test('patterns that can explode are known', async t => {
  for (const pattern of EXPLOSIVE) t.ok(canExplode(pattern), pattern)
})

t.test('ordinary patterns are not taken for such', async t => {
  for (const pattern of ORDINARY) t.notOk(canExplode(pattern), pattern)
})

t.test('they are found wherever they stand in a schema', async t => {
  t.strictSame(
    explosivePatterns({
      type: 'object',
      properties: {
        a: { type: 'string', pattern: '^(a+)+$' },
        b: {
          type: 'array',
          items: {
            anyOf: [
              { type: 'string', pattern: '^(b+)+$' },
              { type: 'string', pattern: '^b$' }
            ]
          }
        }
      },
      patternProperties: { '^(c+)+$': { type: 'string', pattern: '^(a+)+$' } }
    }),
    ['^(c+)+$', '^(a+)+$', '^(b+)+$']
  )
  t.strictSame(explosivePatterns({ type: 'object', properties: { pattern: { type: 'string' } } }), [])
})
