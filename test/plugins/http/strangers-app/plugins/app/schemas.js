import fp from 'fastify-plugin'
import { Type } from 'typebox'

export const Id = Type.Object({ id: Type.Integer({ minimum: 1 }) })

/** Properties that all changes of a task share. */
const properties = {
  title: Type.String({ minLength: 3, maxLength: 80, description: 'In a few words' }),
  status: Type.Ref('TaskStatus'),
  due: Type.Optional(Type.String({ format: 'date' })),
  assignee: Type.Union([Type.Null(), Type.String()], { default: null })
}

export default fp(async app => {
  app.addSchema(Type.Enum(['new', 'in-progress', 'done'], { $id: 'TaskStatus', default: 'new' }))
  app.addSchema(Type.Object(properties, { $id: 'NewTask', additionalProperties: false, required: ['title'] }))
  app.addSchema(Type.Object(properties, { $id: 'TaskChange', required: [], minProperties: 1 }))
  app.addSchema(Type.Object({
    id: Type.Integer(),
    ...properties,
    author: Type.String(),
    parts: Type.Array(Type.Ref('Task'))
  }, { $id: 'Task' }))
  app.addSchema(Type.Object({ problem: Type.String(), code: Type.Optional(Type.String()) }, { $id: 'Problem' }))
  app.addSchema(Type.Object({
    page: Type.Integer({ minimum: 1, default: 1 }),
    limit: Type.Integer({ minimum: 1, maximum: 100, default: 10 })
  }, { $id: 'https://tasks.example/schemas/pagination.json' }))
}, { name: 'schemas' })
