import t from 'tap'
import { createClient, tool, type McpError } from '../../app.js'
import { gateway } from '../support/gateway.js'
import { Speaker } from '../support/speaker.js'

const bug = new TypeError('x is not a function')
const later = new RangeError('too late')

const buggy = tool({ name: 'buggy', description: 'd', run: () => { throw bug } })
const buggyLater = tool({
  name: 'buggy_later',
  description: 'd',
  run: async () => {
    await Promise.resolve()
    throw later
  }
})

const errorOf = async (call: Promise<unknown>): Promise<McpError> =>
  await call.then(
    () => {
      throw new Error('it succeeded')
    },
    (error: unknown) => error as McpError
  )

t.test('a client in the same process gets the bug of a tool as the cause of its error', async t => {
  const app = await gateway(t)
  for (const item of [buggy, buggyLater]) app.mcp.tools.add(item)
  const client = await createClient(app)
  const failures = await Promise.all(
    [client.call(buggy, {}), client.call(buggyLater, {}), client.call('missing', {})].map(errorOf)
  )
  t.ok(failures[0]?.cause === bug && failures[1]?.cause === later && failures[2]?.cause === undefined)
  t.match(failures[0], {
    name: 'McpError',
    code: -32603,
    message: /"cause" of this error/,
    data: { code: 'PATCHBAY_INTERNAL' }
  })
})

t.test('a client with an identity, and one of the network, get no cause', async t => {
  const app = await gateway(t)
  app.mcp.tools.add(buggy)
  const error = await errorOf(
    (await createClient(app, { identity: { principal: 'ada', scopes: 'all' } })).call(buggy, {})
  )
  t.equal(error.cause, undefined)
  t.notMatch(error.message, 'cause')
  t.notMatch(JSON.stringify(await new Speaker(app).tool('buggy')), /not a function|cause/)
})
