import closeWithGrace from 'close-with-grace'
import { build } from '../../app.js'
import fixture from './fixture.js'

const app = await build(
  { tools: false, plugins: [fixture], limits: { maxEventLoopDelay: 60_000 } },
  { logger: { level: 'warn', stream: process.stderr } }
)
const address = await app.listen({ host: '127.0.0.1', port: Number(process.env.PORT ?? 8080) })
process.stderr.write(`The conformance fixture is served at ${address}/mcp\n`)

closeWithGrace({ delay: 10_000 }, async () => await app.close())
