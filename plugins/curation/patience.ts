import type { FastifyInstance } from 'fastify'
import fp from 'fastify-plugin'
import { hasEnd } from '../../protocol/definitions/patience.js'
import type { Call } from '../../protocol/dispatch/call.js'
import { clientWait } from '../../protocol/known-clients.js'
import { now } from '../../lib/time.js'
import type { Added, Addition } from './additions.js'
import { dueOf } from './patience/due.js'
import type { EarlyAnswers } from './patience/early-answers.js'

interface Loaded extends Added { readonly answers: EarlyAnswers }

/** The longest delay of `setTimeout`. */
const MAX_DELAY = 2 ** 31 - 1

/**
 * Answers calls that outlast the patience of their clients, and serves their results later. The code is loaded with the
 * first tool that has patience.
 */
export default fp(async fastify => {
  const { mcp, log } = fastify
  let loading: Promise<Loaded> | undefined
  const load = async (): Promise<Loaded> => await (loading ??= loadParts(fastify, addition))
  const addition: Addition = { isFor: ({ patience }) => hasEnd(patience), load }

  mcp.additions.add(addition)
  mcp.tools.watchWith((tool, call) => {
    const { patience } = tool
    // A task is answered already.
    if (!hasEnd(patience) || call.task !== undefined) return
    const answer = async (): Promise<void> => await (await load()).answers.answer(call, tool)
    whenDue(call, patience === 'client' ? clientWait(call.client) : patience, () => {
      answer().catch(error => log.error(error))
    })
  })
  mcp.dispatcher.lifecycle.awaitAtDrain(async graceMs => await (await loading)?.answers.drain(graceMs))
  fastify.addHook('onClose', async () => await (await loading)?.answers.close())
}, {
  name: 'patchbay-patience',
  dependencies: ['patchbay-mcp', 'patchbay-additions', 'patchbay-stored-tasks', 'patchbay-tools']
})

async function loadParts ({ mcp, log }: FastifyInstance, addition: Addition): Promise<Loaded> {
  const [{ EarlyAnswers }, { callTemplate, cancelResultTool, getResultTool }, tasks] = await Promise.all([
    import('./patience/early-answers.js'),
    import('./patience/get-result.js'),
    mcp.storedTasks()
  ])
  const { dispatcher: { server, observers }, additions } = mcp
  const isListed = (name: string, view: string | undefined): boolean => additions.isListed(addition, name, view)
  return {
    answers: new EarlyAnswers({ tasks, server, observers, log, isListed }),
    tools: [getResultTool(tasks), cancelResultTool(tasks)],
    template: callTemplate(tasks)
  }
}

/** Runs `answer` when a call has run for `wait` milliseconds, or is about to time out; never once it has ended. */
function whenDue (call: Call, wait: number, answer: () => void): void {
  let timer: NodeJS.Timeout | undefined
  // Progress puts the deadline off.
  const check = (): void => {
    const left = dueOf(call, wait) - now()
    if (left <= 0) answer()
    else timer = setTimeout(check, Math.min(Math.ceil(left), MAX_DELAY)).unref()
  }
  // The handler sets the timeout of an upstream when it begins.
  queueMicrotask(check)
  void call.response.finished.then(() => clearTimeout(timer))
}
