import { once, type EventEmitter } from 'node:events'
import type { Test } from 'tap'
import { version } from '../../app.js'
import type { Connection } from './connections.js'
import { CAPABILITIES, INFO, type Official, type ToolResult } from './official.js'

const DEADLINE = 60_000

// Both generations take an answer at once but a notification one microtask later: progress that comes together with the
// answer is too late for them.
const LATE_PROGRESS = /progress notification for an unknown token/

type Scene = (t: Test, client: Official) => Promise<void>

/**
 * Goes through everything the client can do with a server, over one connection, but for the scenes that do not apply.
 */
export async function play (
  t: Test,
  client: Official,
  { leave }: Pick<Connection<unknown>, 'leave'>,
  without: string[] = []
): Promise<void> {
  for (const [name, scene] of Object.entries(scenes)) {
    if (!without.includes(name)) await t.test(name, async t => await scene(t, client))
  }
  await t.test('reports no errors', async t => {
    t.strictSame(
      client.complaints.map(String).filter(text => !LATE_PROGRESS.test(text)),
      []
    )
  })
  await t.test(
    'leaves nothing behind when it closes',
    async t => await leave(t, async () => await client.verbs.close())
  )
}

const scenes: Record<string, Scene> = {
  'learns who the server is and what it can do': async (t, { verbs }) => {
    t.match(verbs.getServerVersion(), { name: 'mcp-patchbay', version })
    t.match(verbs.getServerCapabilities(), {
      tools: { listChanged: true },
      resources: { subscribe: true },
      prompts: {},
      completions: {},
      logging: {}
    })
  },

  'is seen by the server as it introduced itself': async (t, client) => {
    const { structuredContent } = await client.call({ name: 'who' })
    t.match(structuredContent, { client: INFO, capabilities: Object.keys(CAPABILITIES), revision: client.version })
  },

  'lists all tools, page by page': async (t, { verbs }) => {
    const names = await pages(async page => {
      const { tools, nextCursor } = await verbs.listTools(page)
      return { items: tools, nextCursor }
    })
    t.ok(names.length > 15)
    t.equal(new Set(names.map(({ name }) => name)).size, names.length)
    for (const expected of ['echo', 'slow', 'who', 'calculate']) {
      t.ok(
        names.some(({ name }) => name === expected),
        expected
      )
    }
  },

  'lists resources, templates and prompts': async (t, { verbs }) => {
    const resources = await pages(async page => {
      const { resources, nextCursor } = await verbs.listResources(page)
      return { items: resources, nextCursor }
    })
    t.ok(resources.some(({ uri }) => uri === 'test://text'))
    t.match(
      (await verbs.listResourceTemplates()).resourceTemplates.find(
        ({ uriTemplate }) => uriTemplate === 'test://item/{id}'
      ),
      { name: 'item' }
    )
    const { prompts } = await verbs.listPrompts()
    t.match(
      prompts.find(({ name }) => name === 'introduce'),
      { title: 'Introduce', arguments: [{ name: 'who', required: true }] }
    )
  },

  'gets text and structured content from a tool': async (t, client) => {
    t.match(await client.call({ name: 'echo', arguments: { text: 'héllo' } }), {
      content: [{ type: 'text', text: 'héllo' }],
      structuredContent: { text: 'héllo' }
    })
    t.match(
      (await client.call({ name: 'every_block' })).content.map(block => (block as { type: string }).type),
      ['text', 'image', 'audio', 'resource', 'resource_link']
    )
  },

  'gets progress notifications': async (t, client) => {
    const seen: object[] = []
    t.equal(
      text(
        await client.call(
          { name: 'slow', arguments: { steps: 3, delay: 500 } },
          {
            onprogress: progress => {
              seen.push(progress)
            }
          }
        )
      ),
      '3 steps'
    )
    // The official client drops progress that it reads together with the answer: the third always, the others where a
    // machine is too slow for the delay.
    t.match(seen.slice(0, 2), [
      { progress: 1, total: 3, message: 'step 1' },
      { progress: 2, total: 3, message: 'step 2' }
    ])
  },

  'cancels a call, and the tool notices': async (t, client) => {
    const controller = new AbortController()
    const onprogress = () => controller.abort('changed my mind')
    await t.rejects(client.call({ name: 'linger' }, { onprogress, signal: controller.signal }), /changed my mind/)
    t.match(
      text(await client.call({ name: 'linger_ended' }, { timeout: DEADLINE })),
      /changed my mind|client closed the connection/
    )
  },

  'answers what a tool asks the user': async (t, client) => {
    t.equal(text(await client.call({ name: 'ask_name' })), 'Hello, Ada!')
  },

  'answers what a tool asks the model': async (t, client) => {
    t.equal(text(await client.call({ name: 'ask_model' })), 'Paris')
  },

  'gives a tool its roots': async (t, client) => {
    t.equal(text(await client.call({ name: 'ask_roots' })), 'file:///home/ada')
  },

  'receives logs from the level on that it asked for': async (t, client) => {
    const extra = await client.listenToLogs('info')
    const first = next(client.events, 'log')
    await client.call({ name: 'say', arguments: { level: 'debug', text: 'quiet' }, ...extra })
    await client.call({ name: 'say', arguments: { level: 'warning', text: 'loud' }, ...extra })
    t.match(await first, { level: 'warning', data: 'loud', logger: 'say' })
  },

  'reads text, bytes and what a template describes': async (t, { verbs }) => {
    t.match(await verbs.readResource({ uri: 'test://text' }), {
      contents: [{ uri: 'test://text', mimeType: 'text/plain', text: 'hello' }]
    })
    t.match(await verbs.readResource({ uri: 'test://bytes' }), { contents: [{ uri: 'test://bytes', blob: 'AQID' }] })
    t.match(await verbs.readResource({ uri: 'test://item/7' }), {
      contents: [{ uri: 'test://item/7', text: '{"id":"7"}' }]
    })
  },

  'is notified of updates of a resource while it is subscribed': async (t, client) => {
    await client.subscribe('test://text')
    const [updated] = await Promise.all([next(client.events, 'updated'), client.call({ name: 'touch' })])
    t.match(updated, { uri: 'test://text' })
    await client.unsubscribe('test://text')
    client.events.once('updated', () => t.fail('heard of it again'))
    await client.call({ name: 'touch' })
    await client.call({ name: 'echo', arguments: { text: 'later' } })
  },

  'is notified of a new tool, and can call it': async (t, client) => {
    const [names] = await Promise.all([next(client.events, 'tools'), client.call({ name: 'grow' })])
    t.ok(Array.isArray(names))
    t.equal(text(await client.call({ name: 'grown' })), 'grown')
  },

  'gets a prompt': async (t, { verbs }) => {
    t.match(await verbs.getPrompt({ name: 'introduce', arguments: { who: 'Ada' } }), {
      messages: [{ role: 'user', content: { type: 'text', text: 'Introduce Ada.' } }]
    })
  },

  'completes arguments of prompts and templates': async (t, { verbs }) => {
    const prompt = await verbs.complete({
      ref: { type: 'ref/prompt', name: 'introduce' },
      argument: { name: 'who', value: 'A' }
    })
    t.match(prompt.completion, { values: ['Ada', 'Alan'] })
    const template = await verbs.complete({
      ref: { type: 'ref/resource', uri: 'test://item/{id}' },
      argument: { name: 'id', value: 't' }
    })
    t.match(template.completion, { values: ['two', 'three'] })
  },

  'gets an error for a wrong request': async (t, client) => {
    await t.rejects(client.call({ name: 'nonsense' }), { code: -32602, message: /Unknown tool: nonsense/ })
    await t.rejects(client.verbs.getPrompt({ name: 'nonsense' }), { code: -32602 })
    await t.rejects(client.verbs.getPrompt({ name: 'introduce' }), { code: -32602, message: /who/ })
    await t.rejects(client.verbs.readResource({ uri: 'test://nowhere' }), { message: /not found: test:\/\/nowhere/i })
    t.match(await client.call({ name: 'echo', arguments: { text: 3 } }), { isError: true, content: [{ text: /text/ }] })
  },

  'gets the failure of a tool, in the words of the tool only': async (t, client) => {
    t.match(await client.call({ name: 'refuse' }), { isError: true, content: [{ text: 'not today' }] })
    const error = await client.call({ name: 'boom' }).then(() => undefined, (error: unknown) => error as Error)
    t.match(error, { code: -32603 })
    t.notMatch(error?.message, /secret/)
  }
}

export function text ({ content: [block] }: ToolResult): string | undefined {
  return (block as { text?: string } | undefined)?.text
}

/** The next event of that name; rejects when it takes too long. */
export async function next (events: EventEmitter, event: string): Promise<unknown> {
  const [value] = await once(events, event, { signal: AbortSignal.timeout(DEADLINE) }) as unknown[]
  return value
}

async function pages<T> (
  list: (page?: { cursor: string }) => Promise<{ items: T[], nextCursor: string | undefined }>
): Promise<T[]> {
  const { items: all, nextCursor: second } = await list()
  for (let cursor = second; cursor !== undefined;) {
    const { items, nextCursor } = await list({ cursor })
    all.push(...items)
    cursor = nextCursor
  }
  return all
}
