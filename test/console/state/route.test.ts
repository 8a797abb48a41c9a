import t from 'tap'
import { parseRoute, writeRoute, type Route } from '../../../console/state/route.js'

const routes: Route[] = [
  { view: 'try' },
  { view: 'try', kind: 'prompt' },
  { view: 'try', kind: 'tool', name: 'a/b c%?#' },
  { view: 'try', kind: 'resource', name: 'file:///ü' },
  { view: 'history' },
  { view: 'messages' },
  { view: 'watch' }
]

t.test('every view has an address that leads back to it', async t => {
  for (const route of routes) t.strictSame(parseRoute(writeRoute(route)), route)
})

t.test('what is not an address of the page is the first view', async t => {
  for (const hash of ['', '#', '#/', '#/nothing', '#/try/nothing/x', '#//', '#access_token=1']) {
    t.strictSame(parseRoute(hash), { view: 'try' }, hash)
  }
  t.strictSame(
    parseRoute('#/try/tool/%E0%A4%A'),
    { view: 'try', kind: 'tool', name: '%E0%A4%A' },
    'a broken escape stays text'
  )
})

t.test('a name that cannot be encoded still has an address', async t => {
  t.equal(writeRoute({ view: 'try', kind: 'tool', name: 'a\uD800' }), '#/try/tool/a%EF%BF%BD')
})
