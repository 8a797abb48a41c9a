// Serves the fixture through a second gateway, in front of the first, under the names that the fixture gives its tools.
// The suite asks that every keyword of a schema is preserved, unions at the root included, which some clients refuse:
// hence `as-is`.
import closeWithGrace from 'close-with-grace'
import { build } from '../../app.js'
import fixture from './fixture.js'

const logger = { level: 'warn', stream: process.stderr }
// A busy machine delays the event loop.
const limits = { maxEventLoopDelay: 60_000 }
const behind = await build({ tools: false, plugins: [fixture], limits }, { logger })
const url = await behind.listen({ host: '127.0.0.1', port: 0 })

const front = await build(
  { tools: false, limits, mcpServers: { fixture: { url: `${url}/mcp`, sampling: true, schemas: 'as-is' } } },
  { logger }
)
const address = await front.listen({ host: '127.0.0.1', port: Number(process.env.PORT ?? 8080) })
while (front.mcp.upstreams.status().every(({ state, tools }) => state !== 'ready' || tools === 0)) {
  await new Promise(resolve => setTimeout(resolve, 10))
}
process.stderr.write(`The conformance fixture is served at ${address}/mcp/fixture\n`)

closeWithGrace({ delay: 10_000 }, async () => {
  await front.close()
  await behind.close()
})
