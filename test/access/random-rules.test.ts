import t from 'tap'
import { compareRoads } from './random-roads.js'

t.test('by random rules, what runs on each road is what a plain evaluator allows', async t => {
  await compareRoads(t, 30, 'roads')
})
