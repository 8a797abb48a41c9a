import { once } from 'node:events'
import { Type, type Static, type TObject } from '@sinclair/typebox'
import type { FastifyInstance } from 'fastify'
import { McpError, prompt, resource, tool, ToolError, type ContentBlock } from '../../app.js'
import { boardOf, type Board } from '../support/nodes/board.js'
import { takeTime } from '../support/wait.js'

const Key = Type.Object({ key: Type.String() })
const ICONS = [{ src: 'https://example.com/icon.png', mimeType: 'image/png', sizes: ['48x48'] }]
const HIDDEN = { 'example.com/hidden': true }
const DATED = { audience: ['user' as const], priority: 0.5, lastModified: '2025-01-01T00:00:00Z' }

/**
 * Definitions that the matrix needs besides the shared fixture: everything is done over the protocol, so that it works
 * in other processes, and in several, too.
 */
export default async function matrixFixture (fastify: FastifyInstance): Promise<void> {
  const board = await boardOf(fastify)
  for (const item of [
    ...waiters(board),
    decorated,
    decoratedBlocks,
    unavailable,
    askTwice(board),
    canAsk,
    slowly,
    ...taskTools(board),
    ...changers(fastify, board)
  ]) {
    fastify.mcp.tools.add(item)
  }
  for (const uri of ['decorated://one', 'decorated://some/{id}']) fastify.mcp.resources.add(decoratedResource(uri))
  fastify.mcp.prompts.add(decoratedPrompt)
}

const slowly = tool({
  name: 'slowly',
  description: 'Takes longer than a client should wait for, where it may be a task',
  task: 'may',
  run: async (_input, call) => {
    call.progress(1, 2, 'half')
    await takeTime(400)
    return 'done slowly'
  }
})

/** Waits until the signal aborts; the board has when it began and ended to. */
async function hang (board: Board, key: string, signal: AbortSignal): Promise<string> {
  const aborted = once(signal, 'abort')
  await board.mark(`${key} started`)
  await aborted
  await board.mark(`${key} aborted`)
  return 'too late'
}

/** Tools that are tasks only. */
function taskTools (board: Board) {
  return [
    tool({
      name: 'task_that_asks',
      description: 'Asks its user in a task',
      task: 'must',
      run: async (_input, call) => {
        const { content } = await call.elicit('name', {
          message: 'What is your name?',
          requestedSchema: { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] }
        })
        return `Hello, ${String(content?.name)}!`
      }
    }),
    tool({
      name: 'task_that_fails',
      description: 'Fails in a task, as a tool fails',
      task: 'must',
      run: () => { throw new ToolError('no luck') }
    }),
    tool({
      name: 'task_that_hangs',
      description: 'Is a task until it is cancelled; wait_for sees it start and stop',
      input: Key,
      task: 'must',
      run: async ({ key }, { signal }) => await hang(board, key, signal)
    })
  ]
}

function waiters (board: Board) {
  return [
    tool({
      name: 'hang',
      description: 'Waits until it is cancelled; wait_for sees it start and stop',
      input: Key,
      run: async ({ key }, { signal }) => await hang(board, key, signal)
    }),
    tool({
      name: 'wait_for',
      description: 'Answers when a moment has come',
      input: Type.Object({ moment: Type.String() }),
      run: async ({ moment }, call) => {
        await board.wait(moment, call.signal)
        return moment
      }
    }),
    tool({
      name: 'aborted',
      description: 'Tells whether a call of hang was cancelled',
      input: Key,
      run: async ({ key }) => await board.hasCome(`${key} aborted`) ? 'yes' : 'no'
    }),
    tool({
      name: 'meet',
      description: 'Answers when all have come, the last one first',
      input: Type.Object({ room: Type.String(), size: Type.Integer(), canary: Type.String() }),
      run: async ({ room, size, canary }) => {
        await board.meet(room, size)
        return canary
      }
    })
  ]
}

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
  {
    type: 'resource',
    resource: { uri: 'test://text', text: 'hello', _meta: HIDDEN },
    annotations: DATED,
    _meta: HIDDEN
  },
  { type: 'resource_link', uri: 'test://text', name: 'text', title: 'Text', _meta: HIDDEN }
]

const decoratedBlocks = tool({
  name: 'decorated_blocks',
  description: 'Shows everything with all that may be on it',
  run: () => blocks
})

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

const unavailable = tool({
  name: 'unavailable',
  description: 'Fails with a code of its own',
  run: () => {
    throw new McpError(-32001, 'nothing there')
  }
})

const askTwice = (board: Board) => tool({
  name: 'ask_twice',
  description: 'Asks for the roots and then, knowing them, the model',
  run: async (_input, call) => {
    const ticket = await call.once('ticket', async () => await board.count('tickets'))
    const [root] = await call.roots('folders')
    const { content } = await call.sample('summary', {
      messages: [{ role: 'user', content: { type: 'text', text: root?.uri } }],
      maxTokens: 10
    })
    return `${(content as { text: string }).text} #${ticket}`
  }
})

const canAsk = tool({
  name: 'can_ask',
  description: 'Tells what the client can be asked',
  run: (_input, call) =>
    ['elicitation/create', 'sampling/createMessage', 'roots/list'].filter(method => call.can(method)).join(' ')
})

/** Tools that change what the gateway has, in every process of it. */
function changers ({ mcp: { prompts, resources, tools } }: FastifyInstance, board: Board) {
  const Change = Type.Object({ name: Type.String() })
  const changer = <T extends TObject>(
    name: string,
    description: string,
    input: T,
    change: (argument: Static<T>) => unknown
  ) => {
    board.define(name, argument => change(argument as Static<T>))
    return tool({
      name,
      description,
      input,
      run: async argument => await board.everywhere(name, argument as Record<string, string>)
    })
  }
  return [
    changer('touch', 'A resource has changed', Type.Object({ uri: Type.String() }), ({ uri }) =>
      resources.updated(uri)
    ),
    changer('add_tool', 'Adds a tool', Change, ({ name }) =>
      tools.add(tool({ name, description: 'New', run: () => `I am ${name}` }))
    ),
    changer('remove_tool', 'Removes a tool', Change, ({ name }) => {
      tools.remove(name)
    }),
    changer('add_prompt', 'Adds a prompt', Change, ({ name }) => prompts.add(prompt({ name, get: () => name }))),
    changer('remove_prompt', 'Removes a prompt', Change, ({ name }) => {
      prompts.remove(name)
    }),
    changer('add_resource', 'Adds a resource', Change, ({ name }) =>
      resources.add(resource({ uri: `new://${name}`, name, read: () => name }))
    ),
    changer('remove_resource', 'Removes a resource', Change, ({ name }) => {
      resources.remove(`new://${name}`)
    })
  ]
}
