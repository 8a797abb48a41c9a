import t from 'tap'
import { compareRandom } from './random-decisions.js'

const TIME = { timeout: 600_000 }

t.test('10,000 random sets of rules decide as a plain evaluator does that shares no code with them', TIME, async t => {
  compareRandom(t, 10_000, 'more rules')
})
