// Runs on Node.js 20.19 and newer: node --test hello.node.test.mjs
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { build, createClient } from 'mcp-patchbay'

let app

before(async () => { app = await build({ plugins: [`${import.meta.dirname}/hello.ts`], tools: false, http: false }) })
after(async () => await app.close())

test('greets by name', async () => {
  const client = await createClient(app)
  const { text, output } = await client.call('hello', { name: 'Ada' })
  assert.equal(text, 'Hello, Ada!')
  assert.deepEqual(output, { greetings: ['Hello, Ada!'] })
  client.close()
})

test('refuses arguments that do not fit', async () => {
  const client = await createClient(app)
  await assert.rejects(client.call('hello', { name: 'Ada', times: 4 }), /times must be <= 3/)
  client.close()
})

test('reports progress', async () => {
  const client = await createClient(app)
  const seen = []
  await client.call(
    'hello',
    { name: 'Ada', times: 2 },
    { onProgress: ({ progress, total }) => seen.push(`${progress}/${total}`) }
  )
  assert.deepEqual(seen, ['1/2', '2/2'])
  client.close()
})

test('asks the user for the name', async () => {
  const client = await createClient(app, { elicit: () => ({ action: 'accept', content: { name: 'Alan' } }) })
  assert.equal((await client.call('hello')).text, 'Hello, Alan!')
  client.close()
})

test('fails when the user declines', async () => {
  const client = await createClient(app, { elicit: () => ({ action: 'decline' }) })
  await assert.rejects(client.call('hello'), { name: 'ToolError', message: 'No name was given.' })
  client.close()
})
