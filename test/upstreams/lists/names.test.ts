import t from 'tap'
import { prefixesOf, publicNames } from '../../../upstreams/lists/offers/names.js'

const FILES = prefixesOf({ alias: 'files', prefix: undefined })
const S = prefixesOf({ alias: 's', prefix: undefined })
const LONG = prefixesOf({ alias: 'launchdarkly-production-e-1ec985', prefix: undefined })

const nameOf = (name: string, others: string[] = [], prefix = 'files__'): string | undefined =>
  publicNames({ whole: prefix, short: prefix }, [name, ...others]).get(name)?.name

t.test('a name has the prefix, and only characters that every client takes', async t => {
  t.equal(nameOf('read'), 'files__read')
  t.equal(nameOf('read__all'), 'files__read__all')
  t.equal(nameOf('a.b c/d'), 'files__a_b_c_d')
  t.equal(nameOf('größe'), 'files__gr__e')
  t.equal(nameOf('🎉'), 'files___', 'one character is one _')
  t.equal(nameOf('read', [], ''), 'read')
})

t.test('a long name is cut and ends with a hash of the whole', async t => {
  const exact = 'x'.repeat(49 - 'files__'.length)
  t.equal(nameOf(exact), `files__${exact}`)
  const long = nameOf(`${exact}y`) ?? ''
  t.equal(long.length, 49)
  t.match(long, /^files__x{35}_[0-9a-z]{6}$/)
  t.not(nameOf(`${exact}z`), long)
  t.match(nameOf('é'.repeat(128)), /^[A-Za-z0-9_-]{49}$/)
})

t.test('the whole name is another spelling of a changed one, unless two have it', async t => {
  const names = publicNames(FILES, ['read', 'a.b', 'x'.repeat(60), 'c.d', 'c d'])
  t.strictSame(names.get('read')?.spellings, [])
  t.strictSame(names.get('a.b')?.spellings, ['files__a.b'])
  t.strictSame(names.get('x'.repeat(60))?.spellings, [`files__${'x'.repeat(60)}`])
  t.strictSame(names.get('c.d')?.spellings, ['files__c.d'], 'files__c_d could be either')
})

t.test('names that are the same after cleaning get a hash, whatever their order', async t => {
  const all = ['a.b', 'a b', 'a_b', 'a/b']
  const chosen = (order: string[]): Array<[string, string]> =>
    [...publicNames(S, order)].map(([name, { name: own }]): [string, string] => [name, own]).sort()
  const expected = chosen(all)
  for (const order of permutations(all)) t.strictSame(chosen(order), expected)
  t.equal(new Set(expected.map(([, name]) => name)).size, 4)
  t.equal(Object.fromEntries(expected)['a_b'], 's__a_b', 'the one that needed no change keeps its name')
  for (const [name, own] of expected) if (name !== 'a_b') t.match(own, /^s__a_b_[0-9a-z]{6}$/)
})

t.test('a long alias is shortened where the name would be too long, so that tools can be told apart', async t => {
  const own = [
    'get-flags',
    'create-ai-config',
    'create-ai-config-variation',
    'create-approval-request-for-flag',
    'create-approval-request-for-segment',
    'list.audit.log.entries',
    'list audit log entries'
  ]
  const names = publicNames(LONG, own)
  t.equal(names.get('get-flags')?.name, 'launchdarkly-production-e-1ec985__get-flags', 'a name that fits is as it was')
  t.match(names.get('create-ai-config'), {
    name: /^launchdark-[0-9a-f]{6}__create-ai-config$/,
    spellings: [
      'launchdarkly-production-e-1ec985__create-ai-config',
      /^launchdarkly-production-e-1ec985__create-a_[0-9a-z]{6}$/
    ]
  })
  t.match(names.get('create-ai-config-variation')?.name, /^launchdark-[0-9a-f]{6}__create-ai-config-variation$/)
  t.match(
    names.get('create-approval-request-for-flag')?.name,
    /^launchdark-[0-9a-f]{6}__create-approval-request_[0-9a-z]{6}$/
  )
  for (const [name, { name: chosen }] of names) {
    t.ok(chosen.length <= 49)
    t.equal(publicNames(LONG, [name]).size, 1)
  }
  t.equal(
    new Set([...names.values()].flatMap(({ name, spellings }) => [name, ...spellings])).size,
    [...names.values()].flatMap(({ spellings }) => [0, ...spellings]).length,
    'no two have a spelling in common'
  )
  t.equal(
    publicNames(LONG, ['create-ai-config']).get('create-ai-config')?.name,
    names.get('create-ai-config')?.name,
    'it does not depend on the others'
  )
  t.strictSame(
    prefixesOf({ alias: 'a'.repeat(32), prefix: 'a_' }),
    { whole: 'a_', short: 'a_' },
    'a prefix is never shortened'
  )
  t.strictSame(prefixesOf({ alias: 'a'.repeat(20), prefix: undefined }).short, `${'a'.repeat(20)}__`)
})

t.test('ten thousand long names are different', async t => {
  const names = publicNames(S, Array.from({ length: 10_000 }, (_, index) => `${'long '.repeat(20)}${index}`))
  t.equal(new Set([...names.values()].map(({ name }) => name)).size, names.size)
  t.ok(names.size >= 9_998)
})

function permutations<T> (items: T[]): T[][] {
  if (items.length < 2) return [items]
  return items.flatMap((first, index) => permutations(items.toSpliced(index, 1)).map(rest => [first, ...rest]))
}
