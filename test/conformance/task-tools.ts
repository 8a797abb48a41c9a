import { setTimeout as sleep } from 'node:timers/promises'
import { Type } from '@sinclair/typebox'
import { tool, ToolError } from '../../app.js'
import { McpError } from '../../protocol/wire/errors.js'

const CONFIRM = { type: 'object', properties: { confirm: { type: 'boolean' } }, required: ['confirm'] }
const NAME = { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] }

/** The tools of the suite's scenarios about tasks. */
export const taskTools = [
  // The suite calls the first tool of the list to look at headers, as a client without tasks.
  tool({ name: 'answer', description: 'Answers at once', run: () => 'yes' }),
  tool({
    name: 'greet',
    description: 'Greets at once',
    input: Type.Object({ name: Type.String() }),
    run: ({ name }) => `Hello, ${name}!`
  }),
  tool({
    name: 'slow_compute',
    description: 'Takes as long as it is told',
    input: Type.Object({ seconds: Type.Number(), label: Type.Optional(Type.String()) }),
    task: 'may',
    run: async ({ seconds, label = 'work' }, call) => {
      await sleep(seconds * 1_000, undefined, { signal: call.signal })
      return `${label} took ${seconds} s`
    }
  }),
  tool({
    name: 'failing_job',
    description: 'Fails as a tool fails',
    task: 'must',
    run: () => { throw new ToolError('The job failed') }
  }),
  tool({
    name: 'protocol_error_job',
    description: 'Fails with a JSON-RPC error',
    task: 'must',
    run: () => { throw new McpError(-32603, 'The job was refused', undefined, 500) }
  }),
  tool({
    name: 'confirm_delete',
    description: 'Asks before it deletes',
    input: Type.Object({ filename: Type.Optional(Type.String()) }),
    task: 'must',
    run: async ({ filename = 'a file' }, call) => {
      const { action } = await call.elicit('confirm', { message: `Delete ${filename}?`, requestedSchema: CONFIRM })
      return action === 'accept' ? `Deleted ${filename}` : `Kept ${filename}`
    }
  }),
  tool({
    name: 'multi_input',
    description: 'Asks two questions at once',
    task: 'must',
    run: async (_input, call) => {
      await call.ask({
        name: { method: 'elicitation/create', params: { message: 'Your name?', requestedSchema: NAME } },
        confirm: { method: 'elicitation/create', params: { message: 'Sure?', requestedSchema: CONFIRM } }
      })
      return 'Both were answered'
    }
  }),
  tool({
    name: 'test_tool_with_task',
    description: 'Asks first, and becomes a task then',
    task: 'may',
    run: async (_input, call) => {
      const { content } = await call.elicit('user', { message: 'Your name?', requestedSchema: NAME })
      await sleep(500, undefined, { signal: call.signal })
      return `Hello, ${String(content?.name)}`
    }
  })
]
