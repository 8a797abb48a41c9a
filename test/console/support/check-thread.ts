import { Worker } from 'node:worker_threads'
import type { Checker } from '../../../console/forms/check-in-time.js'

const PROGRAM = `
  import { parentPort } from 'node:worker_threads'
  import { schemaErrors } from '${new URL('../../../console/forms/check.js', import.meta.url).href}'
  parentPort.on('message', ({ value, schema, first }) => parentPort.postMessage(schemaErrors(value, schema, first)))
  parentPort.postMessage('ready')`

/** Opens a thread of Node.js that checks as the worker of the page does. */
export function openThread (): Checker {
  const worker = new Worker(new URL(`data:text/javascript,${encodeURIComponent(PROGRAM)}`))
  const checker: Checker = {
    onmessage: null,
    onerror: null,
    postMessage: request => worker.postMessage(request),
    terminate: () => {
      void worker.terminate()
    }
  }
  worker.on('message', data => checker.onmessage?.({ data }))
  worker.on('error', () => checker.onerror?.())
  return checker
}
