import { EventEmitter, once } from 'node:events'
import { Type } from '@sinclair/typebox'
import type { FastifyInstance } from 'fastify'
import { McpError, prompt, resource, tool, type ContentBlock } from '../../app.js'

const Key = Type.Object({ key: Type.String() })
const ICONS = [{ src: 'https://example.com/icon.png', mimeType: 'image/png', sizes: ['48x48'] }]
const HIDDEN = { 'example.com/hidden': true }
const DATED = { audience: ['user' as const], priority: 0.5, lastModified: '2025-01-01T00:00:00Z' }

/** What the matrix needs besides the shared fixture: everything is done over the protocol, so that it works in another process too. */
export default async function matrixFixture (fastify: FastifyInstance): Promise<void> {
  for (const item of [hang, waitFor, aborted, meet, decorated, decoratedBlocks, unavailable, askTwice, canAsk]) fastify.mcp.tools.add(item)
  for (const item of changers(fastify)) fastify.mcp.tools.add(item)
  for (const uri of ['decorated://one', 'decorated://some/{id}']) fastify.mcp.resources.add(decoratedResource(uri))
  fastify.mcp.prompts.add(decoratedPrompt)
}

const moments = new EventEmitter().setMaxListeners(0)
const past = new Set<string>()

function mark (moment: string): void {
  past.add(moment)
  moments.emit(moment)
}

const hang = tool({
  name: 'hang',
  description: 'Waits until it is cancelled; wait_for sees it start and stop',
  input: Key,
  run: async ({ key }, call) => {
    mark(`${key} started`)
    await once(call.signal, 'abort')
    mark(`${key} aborted`)
    return 'too late'
  }
})

const waitFor = tool({
  name: 'wait_for',
  description: 'Answers when a moment has come',
  input: Type.Object({ moment: Type.String() }),
  run: async ({ moment }, call) => {
    if (!past.has(moment)) await once(moments, moment, { signal: call.signal })
    return moment
  }
})

const aborted = tool({
  name: 'aborted',
  description: 'Tells whether a call of hang was cancelled',
  input: Key,
  run: ({ key }) => past.has(`${key} aborted`) ? 'yes' : 'no'
})

const meetings = new Map<string, Array<() => void>>()

const meet = tool({
  name: 'meet',
  description: 'Answers when all have come, the last one first',
  input: Type.Object({ room: Type.String(), size: Type.Integer(), canary: Type.String() }),
  run: async ({ room, size, canary }) => {
    const waiting = meetings.get(room) ?? []
    meetings.set(room, waiting)
    await new Promise<void>(resolve => {
      waiting.push(resolve)
      if (waiting.length === size) for (const leave of waiting.reverse()) leave()
    })
    return canary
  }
})

const decorated = tool({
  name: 'decorated',
  title: 'Decorated',
  description: 'Has everything a listed tool can have',
  annotations: { title: 'Decorated', readOnlyHint: true },
  icons: ICONS,
  _meta: HIDDEN,
  output: Type.Object({ done: Type.Boolean() }),
  run: () => ({ done: true })
})

const blocks: ContentBlock[] = [
  { type: 'text', text: 'text', annotations: DATED, _meta: HIDDEN },
  { type: 'audio', data: 'AAAA', mimeType: 'audio/wav', annotations: DATED, _meta: HIDDEN },
  { type: 'resource', resource: { uri: 'test://text', text: 'hello', _meta: HIDDEN }, annotations: DATED, _meta: HIDDEN },
  { type: 'resource_link', uri: 'test://text', name: 'text', title: 'Text', _meta: HIDDEN }
]

const decoratedBlocks = tool({ name: 'decorated_blocks', description: 'Shows everything with all that may be on it', run: () => blocks })

const decoratedPrompt = prompt({
  name: 'decorated',
  title: 'Decorated',
  icons: ICONS,
  _meta: HIDDEN,
  arguments: { who: { title: 'Who', description: 'Whom' } },
  get: () => blocks.map(content => ({ role: 'user' as const, content }))
})

const decoratedResource = (uri: string) => resource({
  uri,
  name: 'decorated',
  title: 'Decorated',
  icons: ICONS,
  annotations: DATED,
  _meta: HIDDEN,
  read: () => [{ uri: 'decorated://one', text: 'hello', _meta: HIDDEN }]
})

const unavailable = tool({ name: 'unavailable', description: 'Fails with a code of its own', run: () => { throw new McpError(-32001, 'nothing there') } })

let tickets = 0

const askTwice = tool({
  name: 'ask_twice',
  description: 'Asks for the roots and then, knowing them, the model',
  run: async (_input, call) => {
    const ticket = await call.once('ticket', () => ++tickets)
    const [root] = await call.roots('folders')
    const { content } = await call.sample('summary', { messages: [{ role: 'user', content: { type: 'text', text: root?.uri } }], maxTokens: 10 })
    return `${(content as { text: string }).text} #${ticket}`
  }
})

const canAsk = tool({
  name: 'can_ask',
  description: 'Tells what the client can be asked',
  run: (_input, call) => ['elicitation/create', 'sampling/createMessage', 'roots/list'].filter(method => call.can(method)).join(' ')
})

function changers (fastify: FastifyInstance) {
  const Change = Type.Object({ name: Type.String() })
  return [
    tool({ name: 'touch', description: 'A resource has changed', input: Type.Object({ uri: Type.String() }), run: ({ uri }) => fastify.mcp.resources.updated(uri) }),
    tool({ name: 'add_tool', description: 'Adds a tool', input: Change, run: ({ name }) => fastify.mcp.tools.add(tool({ name, description: 'New', run: () => `I am ${name}` })) }),
    tool({ name: 'remove_tool', description: 'Removes a tool', input: Change, run: ({ name }) => { fastify.mcp.tools.remove(name) } }),
    tool({ name: 'add_prompt', description: 'Adds a prompt', input: Change, run: ({ name }) => fastify.mcp.prompts.add(prompt({ name, get: () => name })) }),
    tool({ name: 'remove_prompt', description: 'Removes a prompt', input: Change, run: ({ name }) => { fastify.mcp.prompts.remove(name) } }),
    tool({ name: 'add_resource', description: 'Adds a resource', input: Change, run: ({ name }) => fastify.mcp.resources.add(resource({ uri: `new://${name}`, name, read: () => name })) }),
    tool({ name: 'remove_resource', description: 'Removes a resource', input: Change, run: ({ name }) => { fastify.mcp.resources.remove(`new://${name}`) } })
  ]
}
