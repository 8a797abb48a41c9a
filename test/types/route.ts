// Compiled, never run: a route of a typed application that is a tool, and each wrong look of one.
import { Type, type Static, type TSchema } from '@sinclair/typebox'
import Fastify, { type FastifyTypeProvider } from 'fastify'
import { patchbay } from '../../app.js'

interface TypeBox extends FastifyTypeProvider {
  validator: this['schema'] extends TSchema ? Static<this['schema']> : unknown
  serializer: this['schema'] extends TSchema ? Static<this['schema']> : unknown
}

const app = Fastify().withTypeProvider<TypeBox>()
await app.register(patchbay, { prefix: '/ai', routes: { include: ['/api/*'] } })

// `config.mcp` beside a schema leaves the types of the request and of the reply as they are.
app.get('/orders/:id', {
  schema: { params: Type.Object({ id: Type.Integer() }), response: { 200: Type.Object({ double: Type.Number() }) } },
  config: { mcp: { name: 'get_order', description: 'One order', scopes: ['shop'] } }
}, async request => {
  const id: number = request.params.id
  // @ts-expect-error the schema has no such parameter
  void request.params.missing
  return { double: 2 * id }
})
app.get('/reply', {
  schema: { response: { 200: Type.Object({ double: Type.Number() }) } },
  config: { mcp: { name: 'reply' } }
  // @ts-expect-error a string where the schema says number
}, async () => ({ double: '2' }))
app.get('/plain', { config: { mcp: { name: 'plain' } } }, async () => 1)
app.get('/hidden', { config: { mcp: false } }, async () => 1)
// @ts-expect-error a number is no description
app.get('/number', { config: { mcp: { name: 'number', description: 1 } } }, async () => 1)
// @ts-expect-error a name has to be text
app.get('/nameless', { config: { mcp: { name: 1, description: 'd' } } }, async () => 1)
// @ts-expect-error patterns are in a list
await app.register(patchbay, { routes: { include: '/api/*' } })
