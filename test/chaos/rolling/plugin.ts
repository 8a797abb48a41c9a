import { appendFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { Type } from '@sinclair/typebox'
import type { FastifyInstance } from 'fastify'
import { tool } from '../../../app.js'

const Work = Type.Object({ token: Type.String(), steps: Type.Integer({ minimum: 0 }) })

/** A tool that writes down each of its runs, in a file of all nodes. */
export default async function rollingTools ({ mcp: { tools } }: FastifyInstance): Promise<void> {
  tools.add(tool({
    name: 'note_run',
    description: 'Takes some steps, notes the token, also for the session it is called from, and gives it back',
    input: Work,
    run: async ({ token, steps }, call) => {
      for (let step = 1; step <= steps; step++) {
        call.progress(step, steps)
        await sleep(50, undefined, { signal: call.signal })
      }
      appendFileSync(String(process.env['ROLLING_FILE']), `${token}\n`)
      if (steps > 0) call.peer.notify('notifications/message', { level: 'alert', data: token })
      return token
    }
  }))
}
