import swagger from '@fastify/swagger'
import fp from 'fastify-plugin'

export default fp(async app => {
  await app.register(swagger, { openapi: { info: { title: 'Tasks', version: '1.0.0' } }, hideUntagged: false })
  app.get('/openapi.json', { schema: { hide: true } }, () => app.swagger())
}, { name: 'openapi' })
