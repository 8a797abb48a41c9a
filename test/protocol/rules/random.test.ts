import t from 'tap'
import { compareRandom } from './random-decisions.js'

t.test('300 random sets of rules decide as a plain evaluator does that shares no code with them', async t => {
  compareRandom(t, 300, 'rules')
})
