import { setTimeout as sleep } from 'node:timers/promises'
import { tool } from '../../app.js'

/** Tools that send notifications while they run, or drop the connection. */
export const callTools = [
  tool({
    name: 'test_tool_with_progress',
    description: 'Reports progress three times.',
    run: async (_input, call) => {
      for (const done of [0, 50, 100]) {
        call.progress(done, 100, `${done} of 100`)
        await sleep(50, undefined, { signal: call.signal })
      }
      return 'Finished with progress.'
    }
  }),
  tool({
    name: 'test_tool_with_logging',
    description: 'Logs three times.',
    run: async (_input, call) => {
      for (const step of ['started', 'processing data', 'completed']) {
        call.log('info', `Tool execution ${step}`)
        await sleep(50, undefined, { signal: call.signal })
      }
      return 'Finished with logging.'
    }
  }),
  tool({
    name: 'test_logging_tool',
    description: 'Logs once, for whoever asked for it.',
    run: (_input, call) => {
      call.log('info', 'A message for clients that want one')
      return 'Logged.'
    }
  }),
  tool({
    name: 'test_reconnection',
    description: 'Lets the connection go before it answers.',
    run: async (_input, call) => {
      call.release(100)
      await sleep(100, undefined, { signal: call.signal })
      return 'Answered after the connection was closed.'
    }
  })
]
