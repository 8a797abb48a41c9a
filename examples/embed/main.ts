import Fastify from 'fastify'
import { shopWithPatchbay } from './with-patchbay.js'

const app = Fastify({ logger: true })
await shopWithPatchbay(app, false)
await app.listen({ port: 3000 })
