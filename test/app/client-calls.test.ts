import t, { type Test } from 'tap'
import { createClient, tool, ToolError, Type, type Client, type ClientOptions } from '../../app.js'
import type { Tool } from '../../protocol/definitions/tool.js'
import { gateway } from '../support/gateway.js'

async function client (t: Test, item: Tool, options: ClientOptions = {}): Promise<Client> {
  const app = await gateway(t, { http: false })
  app.mcp.tools.add(item)
  return await createClient(app, options)
}

const divide = tool({
  name: 'divide',
  description: 'd',
  input: Type.Object({ a: Type.Number(), b: Type.Number() }),
  output: Type.Object({ result: Type.Number() }),
  text: ({ result }) => `= ${result}`,
  failed: ({ result }) => result < 0,
  run: ({ a, b }) => {
    if (b === 0) throw new ToolError('Division by zero')
    return { result: a / b }
  }
})

t.test('a tool is called by its value or by its name, and gives text, output and content', async t => {
  const { call } = await client(t, divide)
  const expected = { text: '= 2', output: { result: 2 }, content: [{ type: 'text', text: '= 2' }] }
  t.strictSame(await call(divide, { a: 6, b: 3 }), expected)
  t.strictSame(await call('divide', { a: 6, b: 3 }), expected)
})

t.test('the text is that of all text blocks', async t => {
  const item = tool({
    name: 'it',
    description: 'd',
    run: () => [
      { type: 'text', text: 'a' },
      { type: 'image', data: 'AAAA', mimeType: 'image/png' },
      { type: 'text', text: 'b' }
    ]
  })
  const { text, content, output } = await (await client(t, item)).call(item)
  t.equal(text, 'a\nb')
  t.equal(content.length, 3)
  t.equal(output, undefined)
})

t.test('a failure of the tool rejects with its text, and with the result as the cause', async t => {
  const { call } = await client(t, divide)
  await t.rejects(call(divide, { a: 1, b: 0 }), {
    name: 'ToolError',
    message: 'Division by zero',
    cause: { isError: true }
  })
  await t.rejects(call(divide, { a: -1, b: 1 }), {
    name: 'ToolError',
    message: '= -1',
    cause: { structuredContent: { result: -1 } }
  })
  await t.rejects(call('divide', { a: 'x' }), {
    name: 'ToolError',
    message: /arguments of divide: a must be number|"b" is missing/
  })
})

t.test('a tool that is not there, and a fault of the tool, reject with an McpError', async t => {
  const { call } = await client(t, tool({ name: 'it', description: 'd', run: () => { throw new Error('secret') } }))
  await t.rejects(call('missing'), { name: 'McpError', code: -32602, message: 'Invalid params: Unknown tool: missing' })
  await t.rejects(call('it'), { name: 'McpError', code: -32603 })
})

t.test('progress goes to the function of its call, not among the notifications', async t => {
  const item = tool({
    name: 'it',
    description: 'd',
    input: Type.Object({ steps: Type.Integer() }),
    run: ({ steps }, call) => { for (let step = 1; step <= steps; step++) call.progress(step, steps, `step ${step}`) }
  })
  const { call, notifications } = await client(t, item)
  const seen: unknown[][] = [[], []]
  await Promise.all(
    seen.map(
      async (list, index) => await call(item, { steps: index + 1 }, { onProgress: progress => list.push(progress) })
    )
  )
  t.strictSame(seen, [
    [{ progress: 1, total: 1, message: 'step 1' }],
    [{ progress: 1, total: 2, message: 'step 1' }, { progress: 2, total: 2, message: 'step 2' }]
  ])
  t.strictSame(notifications, [])
})

t.test('what onProgress throws rejects the call, after the tool has run to its end', async t => {
  let ended = false
  const item = tool({
    name: 'it',
    description: 'd',
    run: (_input, call) => {
      call.progress(1)
      call.progress(2)
      ended = true
    }
  })
  await t.rejects(
    (await client(t, item)).call(
      item,
      {},
      {
        onProgress: ({ progress }) => {
          throw new Error(`not ${progress}`)
        }
      }
    ),
    { message: 'not 1' }
  )
  t.ok(ended)
})

t.test('a signal cancels the call', async t => {
  const begun = new AbortController()
  const item = tool({
    name: 'it',
    description: 'd',
    run: async (_input, call) => await new Promise((_resolve, reject) => {
      call.signal.addEventListener('abort', () => reject(call.signal.reason), { once: true })
      begun.abort()
    })
  })
  const controller = new AbortController()
  begun.signal.addEventListener('abort', () => controller.abort(new Error('enough')))
  await t.rejects((await client(t, item)).call(item, {}, { signal: controller.signal }), {
    cause: { message: 'enough' }
  })
})

t.test('questions are answered by functions, whose capabilities the client declares', async t => {
  const item = tool({
    name: 'it',
    description: 'd',
    run: async (_input, call) => {
      const { content } = await call.elicit('who', {
        message: 'Who?',
        requestedSchema: { type: 'object', properties: { name: { type: 'string' } } }
      })
      const { content: said } = (await call.sample('say', {
        messages: [{ role: 'user', content: { type: 'text', text: 'Hi' } }],
        maxTokens: 9
      })) as { content: { text: string } }
      const [root] = await call.roots()
      return [content?.['name'], said.text, root?.uri].join(' ')
    }
  })
  const options: ClientOptions = {
    elicit: ({ message }) => ({ action: 'accept', content: { name: `${message} Ada` } }),
    sample: async ({ messages, maxTokens }) => `${messages.length} of ${maxTokens}`,
    roots: () => [{ uri: 'file:///tmp' }]
  }
  t.equal((await (await client(t, item, options)).call(item)).text, 'Who? Ada 1 of 9 file:///tmp')
  await t.rejects((await client(t, item, { roots: () => [] })).call(item), /elicitation/)
})

t.test('a whole answer of the model is passed on as it is', async t => {
  const item = tool({
    name: 'it',
    description: 'd',
    run: async (_input, call) => (await call.sample('say', { messages: [], maxTokens: 9 })).model
  })
  const sample: ClientOptions['sample'] = () => ({
    role: 'assistant',
    model: 'mine',
    content: { type: 'text', text: 'x' }
  })
  t.equal((await (await client(t, item, { sample })).call(item)).text, 'mine')
})

t.test('resources and prompts are read as text and as they were sent', async t => {
  const { read, prompt } = await createClient(await gateway(t, { tools: false }))
  t.strictSame(await read('test://text'), {
    text: 'hello',
    contents: [{ uri: 'test://text', mimeType: 'text/plain', text: 'hello' }]
  })
  t.match(await read('test://bytes'), { text: '', contents: [{ blob: 'AQID' }] })
  await t.rejects(read('test://item/missing'), { name: 'McpError' })
  t.strictSame(await prompt('introduce', { who: 'Ada' }), {
    text: 'Introduce Ada.',
    description: 'Introduces somebody',
    messages: [{ role: 'user', content: { type: 'text', text: 'Introduce Ada.' } }]
  })
  await t.rejects(prompt('introduce'), /needs who/)
})
