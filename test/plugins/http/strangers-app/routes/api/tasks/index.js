import { Readable } from 'node:stream'
import { Type } from 'typebox'
import { Id } from '../../../plugins/app/schemas.js'

const Listing = Type.Object({ total: Type.Integer(), tasks: Type.Array(Type.Ref('Task')) })
const PICTURE = Buffer.from('iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR4nGNgYPj/HwADAgH/p+FBWQAAAABJRU5ErkJggg==', 'base64')

/** Tasks: read, made, changed and deleted. */
export default async function (app) {
  const { tasks } = app
  const tags = ['Tasks']
  const find = id => tasks.find(id) ?? app.httpErrors.createError(404, `There is no task ${id}`)

  app.get('/', {
    schema: {
      tags,
      description: 'Lists tasks, a page at a time',
      querystring: Type.Intersect([
        Type.Ref('https://tasks.example/schemas/pagination.json'),
        Type.Object({ status: Type.Optional(Type.Ref('TaskStatus')) })
      ]),
      response: { 200: Listing }
    }
  }, async ({ query }) => tasks.list(query))

  app.get('/:id', {
    schema: { tags, summary: 'Reads a task', params: Id, response: { 200: Type.Ref('Task'), 404: Type.Ref('Problem') } }
  }, async ({ params: { id } }) => find(id))

  app.post('/', {
    schema: {
      tags,
      operationId: 'createTask',
      summary: 'Makes a task',
      body: Type.Ref('NewTask'),
      response: { 201: Type.Ref('Task') }
    }
  }, async ({ body, user }, reply) => {
    const task = tasks.create({ ...body, author: user.name })
    reply.code(201).header('location', `/api/tasks/${task.id}`)
    return task
  })

  app.patch('/:id', {
    schema: { tags, summary: 'Changes a task', params: Id, body: Type.Ref('TaskChange'), response: { 200: Type.Ref('Task') } }
  }, async ({ params: { id }, body }) => tasks.change(id, body) ?? find(id))

  app.delete('/:id', {
    schema: { tags, summary: 'Deletes a task', params: Id, response: { 204: Type.Null() } },
    preHandler: async (request, reply) => await request.verifyRole(reply, 'admin')
  }, async ({ params: { id } }, reply) => {
    if (!tasks.remove(id)) return find(id)
    reply.code(204)
  })

  app.get('/:id/picture', {
    schema: { tags, summary: 'The picture of a task', params: Id, produces: ['image/png'] }
  }, async ({ params: { id } }, reply) => {
    reply.type('image/png').header('content-disposition', `attachment; filename="task-${id}.png"`)
    return Readable.from([PICTURE.subarray(0, 20), PICTURE.subarray(20)])
  })

  app.get('/report.csv', {
    schema: { tags, summary: 'All tasks as a table', querystring: Type.Object({ columns: Type.Optional(Type.Array(Type.String())) }) },
    config: { rateLimit: { max: 3, timeWindow: '1 minute' } }
  }, async ({ query: { columns = ['id', 'title'] } }, reply) => {
    reply.type('text/csv; charset=utf-8')
    const rows = tasks.list({ page: 1, limit: Infinity }).tasks.map(task => columns.map(column => task[column]).join(','))
    return Readable.from([columns, ...rows].map(row => `${row}\n`))
  })
}
