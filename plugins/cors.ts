import cors from '@fastify/cors'
import fp from 'fastify-plugin'

/** Lets web pages read what they may ask for. Which pages may is decided before, by their origin; a host application decides for itself. */
export default fp(async fastify => {
  await fastify.register(cors, {
    origin: true,
    methods: ['GET', 'POST', 'DELETE'],
    exposedHeaders: ['Mcp-Session-Id', 'X-Session-ID', 'MCP-Protocol-Version'],
    maxAge: 600
  })
}, { name: 'cors', dependencies: ['origin'] })
