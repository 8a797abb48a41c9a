import type { CheckRequest } from './check-in-time.js'
import { schemaErrors } from './check.js'

// The program of the worker that `checkInTime` starts: a file of its own, beside the page.
addEventListener('message', ({ data: { value, schema, first } }: MessageEvent<CheckRequest>) =>
  postMessage(schemaErrors(value, schema, first))
)
postMessage('ready')
