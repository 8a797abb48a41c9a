import { build } from '../../app.js'
import fixture from './fixture.js'

const app = await build({ tools: false, plugins: [fixture] })
await app.listen({ host: '127.0.0.1', port: Number(process.env.PORT ?? 8080) })
