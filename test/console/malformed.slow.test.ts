import t from 'tap'
import { withBrowser } from './support/browser.js'
import { consoleGateway } from './support/open.js'
import { Refusal, scriptServer, type Answers, type Json } from './support/scripted-server.js'
import { call, connected, goTo, openTool } from './support/steps.js'
import { visit } from './support/visit.js'

const META = 'io.modelcontextprotocol/'
/** Values that stand where a text, a number, a list or an object should; `String` throws for the last. */
const ODD: unknown[] = [null, 7, true, 'text', [], [null, 7, [[]]], {}, { toString: 1, valueOf: 1 }]

const elicitations = ODD.flatMap(odd => [
  { message: odd, requestedSchema: odd },
  { mode: 'url', message: odd, url: odd }
]).map(params => ({ method: 'elicitation/create', params }))
const samplings = ODD.flatMap(odd => [
  odd,
  [odd],
  [{ role: odd, content: odd }],
  [{ role: 'user', content: [odd, { type: odd, text: odd }] }]
]).map((messages, index) => ({
  method: 'sampling/createMessage',
  params: { messages, systemPrompt: ODD[index], maxTokens: ODD[index] }
}))
const questions = Object.fromEntries(
  [...elicitations, ...samplings, ...ODD.map(params => ({ method: 'roots/list', params }))].map((question, index) => [
    `q${index}`,
    question
  ])
)

const results: Json[] = ODD.flatMap(odd => [
  { content: odd, structuredContent: odd, isError: odd },
  {
    content: [
      odd,
      { type: 'text', text: odd },
      { type: 'image', data: odd, mimeType: odd },
      { type: 'audio', data: 'AA==', mimeType: odd },
      { type: 'resource', resource: odd },
      { type: 'resource', resource: { uri: odd, text: odd, blob: odd } },
      { type: 'resource_link', uri: odd, name: odd }
    ]
  },
  { contents: odd },
  { contents: [odd, { uri: odd, mimeType: odd, text: 'x' }] },
  { messages: odd },
  { messages: [odd, { role: odd, content: odd }] },
  { isError: true, content: odd }
])

/** A server whose messages have members of every wrong type. */
const malformedServer: Answers = {
  'server/discover': () => ({
    capabilities: { tools: null, prompts: 7, resources: [], completions: true, experimental: null, extensions: 'x' },
    instructions: 7,
    _meta: { [`${META}serverInfo`]: { name: 7, title: [], version: null } }
  }),
  'subscriptions/listen': (_params, tell, id) => {
    tell({
      method: 'notifications/subscriptions/acknowledged',
      params: { notifications: 7, _meta: { [`${META}subscriptionId`]: id } }
    })
    return undefined
  },
  'tools/list': () => ({
    tools: [
      ...ODD,
      ...['ask', 'result', 'error'].map(name => ({ name, inputSchema: { type: 'object' } })),
      ...ODD.map((odd, index) => ({
        name: `odd${index}`,
        title: odd,
        description: odd,
        annotations: odd,
        inputSchema: odd,
        outputSchema: odd,
        icons: odd,
        mimeType: odd,
        size: odd
      }))
    ]
  }),
  'prompts/list': () => ({
    prompts: [
      ...ODD,
      ...ODD.map((odd, index) => ({ name: `prompt${index}`, title: odd, arguments: odd })),
      { name: 'last', arguments: ODD.map(odd => ({ name: odd, description: odd, required: odd })) }
    ]
  }),
  'resources/list': () => ({
    resources: [
      ...ODD,
      ...ODD.map((odd, index) => ({ uri: `test://${index}`, name: odd, mimeType: odd, size: odd, annotations: odd }))
    ]
  }),
  'resources/templates/list': () => ({ resourceTemplates: null }),
  'completion/complete': () => ({ completion: { values: ODD, total: 'x' } }),
  'tools/call': ({ name }, tell, id) => {
    for (const odd of ODD) {
      tell({
        method: 'notifications/message',
        params: { level: odd, logger: odd, _meta: { 'patchbay/requestId': id } }
      })
      tell({
        method: 'notifications/message',
        params: { level: odd, logger: odd, data: odd, _meta: { 'patchbay/requestId': id } }
      })
      tell({ method: 'notifications/progress', params: { progressToken: id, progress: odd, total: odd, message: odd } })
      tell({ method: 'notifications/progress', params: { progressToken: id, progress: 1, total: odd, message: odd } })
    }
    if (name === 'ask') return { resultType: 'input_required', inputRequests: questions }
    if (name === 'error') {
      tell({ id, error: { code: null, message: { toString: 1 }, data: ODD } })
      return undefined
    }
    return results.shift() ?? { content: [{ type: 'text', text: 'the last result' }] }
  }
}

t.test('members of a wrong type, or without a value, break nothing', { ...withBrowser, timeout: 240_000 }, async t => {
  const { url } = await consoleGateway(t)
  const page = await visit(t, url, { prepare: async context => await scriptServer(context, malformedServer) })
  await connected(page)
  for (const name of ODD.map((_odd, index) => `odd${index}`)) await openTool(page, name)
  for (const hash of [
    ...ODD.map((_odd, index) => `prompt/prompt${index}`),
    'prompt/last',
    ...ODD.map((_odd, index) => `resource/${encodeURIComponent(`test://${index}`)}`),
    'template'
  ]) {
    await goTo(page, `#/try/${hash}`)
    await page
      .locator(hash === 'template' ? '.found' : 'article h1')
      .first()
      .waitFor()
  }

  await openTool(page, 'result')
  for (let count = results.length; count > 0; count--) {
    await (
      await call(page)
    )
      .getByText(/^(done|tool failed)$/)
      .first()
      .waitFor()
  }
  const last = await call(page)
  await last.getByText('the last result').waitFor()
  t.equal(await last.locator('.log-lines li').count(), 2 * ODD.length, 'every log message has a line')

  await openTool(page, 'ask')
  const asking = await call(page)
  await asking.locator('.question').nth(Object.keys(questions).length - 1).waitFor()
  await asking.getByRole('button', { name: 'Cancel', exact: true }).click()
  await asking.getByText('cancelled', { exact: true }).waitFor()

  await openTool(page, 'error')
  await (await call(page)).getByText('the server gave no reason').waitFor()
  await goTo(page, '#/messages')
  await page.locator('.message-list button').first().click()
  await page.getByRole('region', { name: 'One message' }).waitFor()
})

const LONG = 'a\u200B'.repeat(150_000)

const longServer: Answers = {
  ...malformedServer,
  'server/discover': () => ({ capabilities: { tools: {} }, instructions: LONG }),
  'tools/list': () => ({
    tools: ['ask', 'error'].map(name => ({ name, title: LONG, description: LONG, inputSchema: { type: 'object' } }))
  }),
  'tools/call': ({ name }) => {
    if (name === 'error') throw new Refusal(1, LONG, { text: LONG })
    return {
      resultType: 'input_required',
      inputRequests: {
        form: { method: 'elicitation/create', params: { message: LONG } },
        url: { method: 'elicitation/create', params: { mode: 'url', url: LONG } },
        model: {
          method: 'sampling/createMessage',
          params: {
            systemPrompt: LONG,
            messages: Array(500).fill({ role: 'user', content: { type: 'text', text: 'Hi' } })
          }
        }
      }
    }
  }
}

t.test(
  'of a text that is too long the beginning is drawn, with few elements, and the page says so',
  { ...withBrowser, timeout: 240_000 },
  async t => {
    const { url } = await consoleGateway(t)
    const page = await visit(t, url, { prepare: async context => await scriptServer(context, longServer) })
    await connected(page)
    await page.getByText('The first 100,000 of 300,000 characters.').waitFor()
    for (const [name, count] of [
      ['error', 1],
      ['ask', 2]
    ] as const) {
      await openTool(page, name)
      const view = await call(page)
      await view
        .getByText('The first 100,000 of 300,000 characters.')
        .nth(count - 1)
        .waitFor()
      if (name === 'ask') await view.getByText('450 more messages are not shown here').waitFor()
      const elements = (await page.evaluate("document.querySelectorAll('*').length")) as number
      t.ok(elements < 15_000, `${name}: ${elements} elements`)
    }
  }
)
