import t from 'tap'
import { didYouMean, nearestName } from '../../lib/nearest-name.js'

const KNOWN = ['execute_command', 'web_search', 'notes', 'notes:read', 'mcp', 'x']

t.test('a name with a slip in it is taken for the one that was meant', async t => {
  for (const [name, meant] of [['exceute_command', 'execute_command'], ['execute-command', 'execute_command'], ['Web_Search', 'web_search'], ['web_serach', 'web_search'], ['websearch', 'web_search'], ['nots', 'notes'], ['note', 'notes'], ['notes:raed', 'notes:read'], ['mpc', 'mcp']] as const) {
    t.equal(nearestName(name, KNOWN), meant, name)
  }
})

t.test('a name that is like none is not taken for one', async t => {
  for (const name of ['', 'q', 'calculate', 'admin', 'execute', 'a'.repeat(100)]) t.equal(nearestName(name, KNOWN.slice(0, 5)), undefined, name)
  t.equal(nearestName('notes', []), undefined)
})

t.test('the suggestion is the end of a sentence, or nothing', async t => {
  t.equal(didYouMean('nots', KNOWN), '; did you mean "notes"?')
  t.equal(didYouMean('calculate', KNOWN), '')
})
