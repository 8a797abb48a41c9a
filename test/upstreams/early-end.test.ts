import { setImmediate as turn } from 'node:timers/promises'
import t from 'tap'
import { build } from '../../app.js'
import { modern, newestLegacy } from '../support/specification/revisions.js'
import { inTime } from '../support/wait.js'
import { openFixture, ways, type Way } from './fixture/open.js'

for (const way of Object.keys(ways) as Way[]) {
  t.test(`a gateway can be closed at any moment of the start of a server over ${way}`, async t => {
    const { entry } = await openFixture(t, way, way === 'HTTP+SSE' ? newestLegacy : modern)
    const rejections: unknown[] = []
    const note = (reason: unknown): void => { rejections.push(reason) }
    process.on('unhandledRejection', note)
    t.teardown(() => { process.off('unhandledRejection', note) })
    for (const turns of [0, 1, 2, 4, 8, 16, 32, 64]) {
      const app = await build({ tools: false, mcpServers: { server: entry } })
      await app.ready()
      for (let count = 0; count < turns; count++) await turn()
      await inTime(app.close(), `the end after ${turns} turns`)
    }
    await turn()
    t.strictSame(rejections, [])
  })
}
