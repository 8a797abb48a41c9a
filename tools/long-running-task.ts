import { setTimeout as sleep } from 'node:timers/promises'
import { Type } from '@sinclair/typebox'
import { now } from '../lib/time.js'
import { tool } from '../protocol/definitions/tool.js'

export default tool({
  name: 'long_running_task',
  title: 'Long-running task',
  description: 'Demo tool that shows progress notifications',
  annotations: { readOnlyHint: true, idempotentHint: true, openWorldHint: false },
  input: Type.Object({
    steps: Type.Optional(Type.Integer({ minimum: 1, maximum: 1_000, default: 5, description: 'Number of steps' })),
    delay: Type.Optional(Type.Number({ minimum: 0, maximum: 30, default: 1, description: 'Delay per step in seconds' }))
  }, { additionalProperties: false }),
  output: Type.Object({ steps: Type.Integer(), seconds: Type.Number({ description: 'How long it took' }) }),
  text: ({ steps }) => `Completed ${steps} ${steps === 1 ? 'step' : 'steps'}`,
  run: async ({ steps = 5, delay = 1 }, call) => {
    const startedAt = now()
    for (let step = 1; step <= steps; step++) {
      await sleep(delay * 1_000, undefined, { signal: call.signal })
      call.progress(step, steps, `Step ${step} of ${steps}`)
    }
    return { steps, seconds: Math.round(now() - startedAt) / 1_000 }
  }
})
