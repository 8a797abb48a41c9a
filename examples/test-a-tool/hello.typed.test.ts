// Runs on Node.js 22.18 and newer, which removes the types: node --test hello.typed.test.ts
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { build, createClient } from 'mcp-patchbay'
import hello from './hello.ts'

await test('the call has the types of the tool', async () => {
  const app = await build({ tools: false, http: false })
  app.mcp.tools.add(hello)
  const client = await createClient(app)
  const { output } = await client.call(hello, { name: 'Ada', times: 2 })
  assert.equal(output.greetings.length, 2)
  // @ts-expect-error a number is expected
  await assert.rejects(client.call(hello, { times: 'two' }), /times must be integer/)
  await app.close()
})
