import t from 'tap'
import { compareRoads } from './random-roads.js'

const TIME = { timeout: 600_000 }

t.test('by 500 random sets of rules, what runs on each road is what a plain evaluator allows', TIME, async t => {
  await compareRoads(t, 500, 'more roads')
})
