// Runs on Node.js 20.19 and newer: node hello.tap.mjs, or npx tap hello.tap.mjs
import t from 'tap'
import { build, createClient } from 'mcp-patchbay'

const app = await build({ plugins: [`${import.meta.dirname}/hello.ts`], tools: false, http: false })
t.teardown(async () => await app.close())

t.test('greets by name', async t => {
  const client = await createClient(app)
  t.match(await client.call('hello', { name: 'Ada' }), { text: 'Hello, Ada!', output: { greetings: ['Hello, Ada!'] } })
  client.close()
})

t.test('asks the user for the name', async t => {
  const client = await createClient(app, { elicit: () => ({ action: 'accept', content: { name: 'Alan' } }) })
  t.equal((await client.call('hello')).text, 'Hello, Alan!')
  client.close()
})

t.test('fails when the user declines', async t => {
  const client = await createClient(app, { elicit: () => ({ action: 'decline' }) })
  await t.rejects(client.call('hello'), { name: 'ToolError', message: 'No name was given.' })
  client.close()
})
