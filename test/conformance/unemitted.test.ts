import { readFileSync } from 'node:fs'
import t from 'tap'

const TESTS = new URL('../', import.meta.url)

const SERVED = 'plugins/capabilities/tasks.test.js'
const MUST = 'a tool that must be a task answers with a task at once, and later has its result'
const QUESTIONS = 'questions of a task wait in it, under keys that are used once, until all are answered'
const CANCELLED = 'a cancelled task is cancelled at once, its tool is told, and what it returns is dropped'
const FAILED = 'a failure of the tool completes the task, an error of ours fails it'
const UNDECLARED = 'a client that did not declare tasks never gets one'
const FOREIGN = 'a task of another is unknown, in the same words'

/**
 * Requirements of the extension for tasks in the table of the official suite (SEP-2663) that no check of it looks at,
 * and the test of ours that does. Requirements of clients are about the gateway as a client of servers.
 */
const REQUIREMENTS: Record<string, readonly [file: string, test: string]> = {
  'no-task-result-type-on-others': [SERVED, MUST],
  'result-type-complete-on-tasks-get': [SERVED, MUST],
  'failed-status-jsonrpc-only': [SERVED, FAILED],
  'failed-includes-statusmessage': [SERVED, FAILED],
  'tasks-get-status-cancelled': [SERVED, CANCELLED],
  'result-type-complete-on-tasks-cancel': [SERVED, CANCELLED],
  'input-request-key-unique-per-task': [SERVED, QUESTIONS],
  'no-key-reuse-after-response': [SERVED, QUESTIONS],
  'update-ack-empty-result': [SERVED, QUESTIONS],
  'update-ignore-unknown-keys': [SERVED, QUESTIONS],
  'result-type-complete-on-tasks-update': [SERVED, QUESTIONS],
  'update-error-unknown-task-id': [SERVED, FOREIGN],
  'cancel-error-unknown-task-id': [SERVED, FOREIGN],
  'tasks-update-cancel-invalid-task-id-32602': [SERVED, FOREIGN],
  'cancel-not-via-cancelled-notification': [
    SERVED, 'a task outlives the client that created it, and a cancellation of the request'
  ],
  'subscribe-missing-capability-non-declaring': [SERVED, UNDECLARED],
  'legacy-capability-treated-as-non-declaring': [SERVED, UNDECLARED],
  'no-progress-or-message-on-task-stream': [SERVED, 'progress is the status message of a task, and no notification'],
  'migrate-from-legacy-capabilities': [SERVED, 'each revision has its own methods of tasks'],
  'client-handles-polymorphic-result': [
    'upstreams/relay/follow-task.test.js',
    'an upstream that answers with a task which cannot be one fails the call in words'
  ],
  'client-honors-poll-interval': [
    'upstreams/relay/follow-task.test.js',
    'a task that never ends is cancelled at its upstream when the call is, and not looked at too often'
  ]
}

t.test('requirements that the official suite does not check have a test of ours', async t => {
  for (const [requirement, [file, test]] of Object.entries(REQUIREMENTS)) {
    t.ok(readFileSync(new URL(file, TESTS), 'utf8').includes(`'${test}'`), `${requirement} is tested in ${file}`)
  }
})
