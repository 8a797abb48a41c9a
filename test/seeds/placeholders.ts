import { fileURLToPath } from 'node:url'
import { Type } from '@sinclair/typebox'
import type { FastifyInstance } from 'fastify'
import { resource, tool, ToolError } from '../../app.js'

/** This file, for --plugin. */
export const PLACEHOLDERS = fileURLToPath(import.meta.url)

/** What the documents use as examples and no gateway would serve: `tool_name`, `custom://resource/id` and the like. */
export default async function placeholders (fastify: FastifyInstance): Promise<void> {
  for (const item of [
    toolName,
    constrained,
    fails,
    crashes,
    chatty,
    forgetful,
    contentTypes,
    flatResource,
    askCapital,
    indexServices
  ]) {
    fastify.mcp.tools.add(item)
  }
  fastify.mcp.resources.add(
    resource({
      uri: 'custom://resource/id',
      name: 'Resource Name',
      description: 'What this resource provides',
      mimeType: 'text/plain',
      read: () => 'Resource content'
    })
  )
  fastify.mcp.resources.add(
    resource({
      uri: 'dbus://service/org.freedesktop.NetworkManager',
      name: 'NetworkManager Service Info',
      mimeType: 'application/json',
      read: () => ({ state: 'connected' })
    })
  )
}

const toolName = tool({
  name: 'tool_name',
  description: 'What the tool does',
  input: Type.Object({ param1: Type.Optional(Type.String()) }),
  run: () => 'Result data as JSON string'
})

const constrained = tool({
  name: 'constrained',
  description: 'Has every type and constraint',
  input: {
    type: 'object',
    properties: {
      param_name: { type: 'string', description: 'Parameter description' },
      choice: { type: 'string', enum: ['option1', 'option2'], minLength: 1 },
      amount: { type: 'number', minimum: 1, maximum: 100 },
      list: { type: 'array', items: { type: 'string' } },
      flag: { type: 'boolean' },
      nested: { type: 'object' }
    },
    required: ['param_name']
  },
  run: input => input
})

const fails = tool({
  name: 'fails',
  description: 'Fails in its own words',
  run: () => {
    throw new ToolError('Error message')
  }
})

const crashes = tool({
  name: 'crashes',
  description: 'Throws what nobody expected',
  run: () => {
    throw new Error('connect 10.0.0.1:5432 as admin')
  }
})

const chatty = tool({
  name: 'chatty',
  description: 'Writes where it should not',
  run: () => {
    console.log('from console.log')
    process.stdout.write('from process.stdout\n')
  }
})

const forgetful = tool({
  name: 'forgetful',
  description: 'Leaves a promise behind that fails',
  run: () => {
    void Promise.reject(new Error('nobody looked'))
  }
})

const contentTypes = tool({
  name: 'content_types',
  description: 'Gives one block of each kind',
  run: () => [
    { type: 'text', text: 'Hello, world!' },
    { type: 'image', data: 'base64-encoded-data', mimeType: 'image/png' },
    { type: 'resource', resource: { uri: 'file:///path/to/file', mimeType: 'text/plain', text: 'file contents' } }
  ]
})

const flatResource = tool({
  name: 'flat_resource',
  description: 'Gives a resource without the nesting of the specification',
  run: () => ({ type: 'resource', uri: 'file:///path/to/file', mimeType: 'text/plain', text: 'file contents' })
})

const askCapital = tool({
  name: 'ask_capital',
  description: 'Asks the model of the client',
  run: async (_input, call) => {
    const answer = await call.sample('capital', {
      messages: [{ role: 'user', content: { type: 'text', text: 'What is the capital of France?' } }],
      modelPreferences: { hints: [{ name: 'claude-3-5-sonnet-20241022' }], costPriority: 0.5, speedPriority: 0.5 },
      maxTokens: 1000
    })
    return JSON.stringify(answer)
  }
})

const indexServices = tool({
  name: 'index_services',
  description: 'Logs and tells how far it is',
  run: (_input, call) => {
    call.progress(0.65, 1)
    call.log('info', 'Indexed 127 services in 2.3s', 'dbus-indexer')
    call.log('warning', 'One service did not answer', 'dbus-indexer')
  }
})
