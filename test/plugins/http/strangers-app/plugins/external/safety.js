import cors from '@fastify/cors'
import helmet from '@fastify/helmet'
import rateLimit from '@fastify/rate-limit'
import sensible from '@fastify/sensible'
import underPressure from '@fastify/under-pressure'
import fp from 'fastify-plugin'

export default fp(async (app, { max = 200 }) => {
  await app.register(sensible)
  await app.register(underPressure, { exposeStatusRoute: '/status', healthCheckInterval: 5_000, healthCheck: () => true })
  await app.register(helmet, { global: true })
  await app.register(cors, { origin: ['https://tasks.example'], credentials: true, exposedHeaders: ['x-ratelimit-remaining'] })
  await app.register(rateLimit, { max, timeWindow: '1 minute' })
}, { name: 'safety' })
