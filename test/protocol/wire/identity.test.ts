import t from 'tap'
import {
  ANONYMOUS_ALL_SCOPES,
  grants,
  hasExpired,
  UNAUTHENTICATED,
  type Granted
} from '../../../protocol/wire/identity.js'

const callerWith = (...scopes: string[]) => ({ principal: 'ada', scopes: new Set(scopes) as Granted })

const ROWS: Array<[granted: string[], needed: string[], answer: boolean]> = [
  [['mcp'], ['mcp'], true],
  [['mcp'], [], true],
  [[], [], true],
  [[], ['mcp'], false],
  [['mcp'], ['notes:write'], false],
  [['notes:write'], ['notes:write'], true],
  [['notes:read'], ['notes:write'], false],
  [['notes'], ['notes:write'], true],
  [['notes:write'], ['notes'], false],
  [['note'], ['notes:write'], false],
  [['notes:'], ['notes:write'], false],
  [['a:b'], ['a:b:c'], true],
  [['a:c'], ['a:b:c'], false],
  [['admin'], ['exec', 'notes:write'], true],
  [['admin:x'], ['exec'], false],
  [['exec'], ['exec', 'search'], false],
  [['exec', 'search'], ['exec', 'search'], true],
  [['*'], ['exec'], false],
  [['all'], ['exec'], false],
  [['__proto__'], ['constructor'], false]
]

for (const [granted, needed, answer] of ROWS) {
  t.test(`"${granted.join(' ')}" ${answer ? 'is enough' : 'is not enough'} for "${needed.join(' ')}"`, async t => {
    t.equal(grants(callerWith(...granted), needed), answer)
  })
}

t.test('an anonymous caller may do everything where no credential is needed, else nothing', async t => {
  t.ok(grants(ANONYMOUS_ALL_SCOPES, ['exec']))
  t.notOk(grants(UNAUTHENTICATED, ['mcp']))
})

t.test('an identity expires at its time, and one without a time does not', async t => {
  t.notOk(hasExpired(callerWith()))
  t.notOk(hasExpired({ ...callerWith(), expires: Date.now() + 60_000 }))
  t.ok(hasExpired({ ...callerWith(), expires: Date.now() }))
})
