import t from 'tap'
import { tool } from '../../../../app.js'
import { ProjectedItems } from '../../../../plugins/curation/views/projected-items.js'
import type { Tool } from '../../../../protocol/definitions/tool.js'

const make = (name: string): Tool => tool({ name, description: '', run: () => '' }) as Tool

t.test('a tool that cannot be shown is left out with a sentence, until it can', async t => {
  const items = new ProjectedItems({ scopes: ['mcp'] })
  const [good, bad] = [make('good'), make('bad')]
  const broken = Object.defineProperty({ ...bad }, 'listed', {
    configurable: true,
    get: () => { throw new Error('too deep') }
  })
  t.equal(items.named(good, 'good')?.name, 'good')
  t.equal(items.named(broken, 'bad'), undefined)
  t.strictSame(items.failures, [
    '"bad" is left out, because it cannot be shown as the view demands: too deep'
  ])
  t.equal(items.named(bad, 'bad')?.name, 'bad')
  t.strictSame(items.failures, [])
  t.equal(items.named(bad, 'bad'), items.named(bad, 'bad'), 'what did not change stays the same')
})
