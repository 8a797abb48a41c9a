import { Type } from '@sinclair/typebox'
import type { FastifyInstance } from 'fastify'
import { tool } from '../protocol/definitions/tool.js'

export default async function incrementCounter ({ mcp: { tools, store: { values } } }: FastifyInstance): Promise<void> {
  tools.add(
    tool({
      name: 'increment_counter',
      title: 'Increment the counter',
      description: 'Increment the server counter',
      annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: false, openWorldHint: false },
      input: Type.Object(
        {
          amount: Type.Optional(
            Type.Integer({
              minimum: Number.MIN_SAFE_INTEGER,
              maximum: Number.MAX_SAFE_INTEGER,
              description: 'Amount to increment (default: 1)'
            })
          )
        },
        { additionalProperties: false }
      ),
      output: Type.Object({ value: Type.Integer() }),
      text: ({ value }) => `Counter: ${value}`,
      run: async ({ amount = 1 }) => ({ value: await values.increment('counter', 'value', amount) })
    })
  )
}
