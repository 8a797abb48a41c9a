import { setTimeout as sleep } from 'node:timers/promises'
import { Type } from '@sinclair/typebox'
import type { FastifyInstance, FastifyServerOptions } from 'fastify'
import type { Test } from 'tap'
import { build, prompt, resource, tool, ToolError, type Options } from '../../app.js'

/** A gateway with the tools below that closes itself when the test ends. */
export async function gateway (
  t: Test,
  options: Partial<Options> = {},
  server: FastifyServerOptions = {}
): Promise<FastifyInstance> {
  // A busy machine delays the event loop; only tests of overload want requests refused for that.
  const app = await build(
    { plugins: [fixture], grace: 1_000, ...options, limits: { maxEventLoopDelay: 60_000, ...options.limits } },
    server
  )
  t.teardown(async () => await app.close())
  await app.ready()
  return app
}

/** A gateway that listens on a free port of the loopback interface. */
export async function listening (
  t: Test,
  options: Partial<Options> = {},
  server: FastifyServerOptions = {}
): Promise<{ app: FastifyInstance, url: string }> {
  const app = await gateway(t, options, server)
  return { app, url: await app.listen({ port: 0, host: '127.0.0.1' }) }
}

/** One tool, resource or prompt for each mechanism that tests want to see. */
export default async function fixture (fastify: FastifyInstance): Promise<void> {
  for (const item of [echo, slow, boom, refuse, askName, askModel, askRoots, say, everyBlock]) {
    fastify.mcp.tools.add(item)
  }
  fastify.mcp.resources.add(
    resource({ uri: 'test://text', name: 'text', title: 'Text', mimeType: 'text/plain', read: () => 'hello' })
  )
  fastify.mcp.resources.add(
    resource({
      uri: 'test://bytes',
      name: 'bytes',
      mimeType: 'application/octet-stream',
      read: () => new Uint8Array([1, 2, 3])
    })
  )
  fastify.mcp.resources.add(resource({
    uri: 'test://item/{id}',
    name: 'item',
    complete: { id: typed => ['one', 'two', 'three'].filter(id => id.startsWith(typed)) },
    read: ({ id }) => id === 'missing' ? undefined : { id }
  }))
  fastify.mcp.prompts.add(
    prompt({
      name: 'introduce',
      title: 'Introduce',
      description: 'Introduces somebody',
      arguments: {
        who: {
          description: 'Whom',
          required: true,
          complete: typed => ['Ada', 'Alan'].filter(name => name.startsWith(typed))
        }
      },
      get: ({ who }) => `Introduce ${who}.`
    })
  )
}

const echo = tool({
  name: 'echo',
  title: 'Echo',
  description: 'Gives back what it was given',
  input: Type.Object({ text: Type.String() }, { additionalProperties: false }),
  output: Type.Object({ text: Type.String() }),
  text: ({ text }) => text,
  run: ({ text }) => ({ text })
})

const slow = tool({
  name: 'slow',
  description: 'Takes its time and tells how far it is; stops when it is cancelled',
  input: Type.Object({
    steps: Type.Optional(Type.Integer()),
    delay: Type.Optional(Type.Integer({ maximum: 600_000 }))
  }),
  run: async ({ steps = 3, delay = 10 }, call) => {
    for (let step = 1; step <= steps; step++) {
      await sleep(delay, undefined, { signal: call.signal })
      call.progress(step, steps, `step ${step}`)
    }
    return `${steps} steps`
  }
})

const boom = tool({
  name: 'boom',
  description: 'Throws an unexpected error',
  run: () => {
    throw new Error('secret detail')
  }
})

const refuse = tool({
  name: 'refuse',
  description: 'Fails in its own words',
  run: () => {
    throw new ToolError('not today')
  }
})

const askName = tool({
  name: 'ask_name',
  description: 'Asks the user for a name',
  run: async (_input, call) => {
    const { action, content } = await call.elicit('user_name', {
      message: 'What is your name?',
      requestedSchema: { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] }
    })
    return action === 'accept' ? `Hello, ${String(content?.name)}!` : `You chose to ${action}.`
  }
})

const askModel = tool({
  name: 'ask_model',
  description: 'Asks the client\'s model',
  run: async (_input, call) => {
    const { content } = await call.sample('capital', {
      messages: [{ role: 'user', content: { type: 'text', text: 'Capital of France?' } }],
      maxTokens: 10
    })
    return (content as { text: string }).text
  }
})

const askRoots = tool({
  name: 'ask_roots',
  description: 'Lists the folders of the client',
  run: async (_input, call) => (await call.roots()).map(({ uri }) => uri).join('\n')
})

const say = tool({
  name: 'say',
  description: 'Logs at a level',
  input: Type.Object({ level: Type.String(), text: Type.String() }),
  run: ({ level, text }, call) => { call.log(level as 'info', text, 'say') }
})

const everyBlock = tool({
  name: 'every_block',
  description: 'One content block of each kind',
  run: () => [
    {
      type: 'text',
      text: 'text',
      annotations: { audience: ['user'], priority: 1, lastModified: '2025-01-01T00:00:00Z' }
    },
    { type: 'image', data: 'AAAA', mimeType: 'image/png' },
    { type: 'audio', data: 'AAAA', mimeType: 'audio/wav' },
    { type: 'resource', resource: { uri: 'test://text', mimeType: 'text/plain', text: 'hello' } },
    { type: 'resource_link', uri: 'test://text', name: 'text', description: 'A text' }
  ]
})
