import { setTimeout as sleep } from 'node:timers/promises'
import { describe, isFinal, judge, type Caller } from './caller.js'
import type { Node } from './cluster.js'
import type { Outcome } from './tally.js'
import { withoutRepeated, type Answer, type Message } from './wire.js'

const STEPS = 6
const STEP = 15
const AGAIN = 50
/** For how many milliseconds a client tries to resume. */
const RESUME = 40_000
const ANSWER = 15_000
/** A call that waits for so many milliseconds is worth a line. */
const SLOW = 2_000

/** One call of a kind, which is noted. */
export type Kind = (caller: Caller) => Promise<void>

/** A call of the newest revision, which needs nothing of Redis. */
export const modern: Kind = async caller => {
  const [node, mark] = [caller.cluster.next(), caller.mark()]
  const begun = performance.now()
  const answer = await caller.callModern(node, { name: 'nodes_echo', arguments: { text: mark } })
  const waited = performance.now() - begun
  if (!node.harmed) caller.tally.longest = Math.max(caller.tally.longest, waited)
  if (waited > SLOW) {
    caller.tally.sample(
      'slow',
      `${waited.toFixed()} ms at node ${caller.cluster.nodes.indexOf(node)}, from ${(begun / 1000).toFixed()} s on`
    )
  }
  note(caller, 'modern', node, judge(answer, mark), describe(answer))
}

/** A call in a session, each at the next node. */
export const inSession: Kind = async caller => {
  if (!await hasSession(caller)) return
  const [node, mark] = [caller.cluster.next(), caller.mark()]
  const answer = await caller.callTool(node, { name: 'nodes_echo', arguments: { text: mark } })
  finish(caller, 'session', node, judge(answer, mark), describe(answer))
}

/** A call that tells of its progress; its reply is cut, and resumed at the next node. */
export const streamed: Kind = async caller => {
  if (!await hasSession(caller)) return
  const [node, mark] = [caller.cluster.next(), caller.mark()]
  const params = {
    name: 'nodes_echo',
    arguments: { text: mark, steps: STEPS, ms: STEP },
    _meta: { progressToken: mark }
  }
  const first = await caller.callTool(node, params, { most: 1 + Math.floor(Math.random() * STEPS * 2) })
  const { answer, messages } = await resume(caller, first)
  for (const { id, text } of messages) caller.tally.identify(caller.session ?? '', id, text)
  const outcome = judge(answer, mark)
  if (outcome === 'right') countSteps(caller, mark, withoutRepeated(messages))
  finish(caller, 'streamed', node, outcome, `${describe(first)} then ${describe(answer)}`)
}

/** A call that asks its client, who answers at the next node. */
export const asking: Kind = async caller => {
  if (!await hasSession(caller)) return
  const [node, mark] = [caller.cluster.next(), caller.mark()]
  let answering: Promise<Answer> | undefined
  const onMessage = ({ text }: Message): void => {
    const { id, method } = JSON.parse(text) as { id: unknown, method?: string }
    if (method === 'elicitation/create') {
      answering = answerAtNext(caller, id, { action: 'accept', content: { text: mark } })
    }
  }
  const answer = await caller.callTool(
    node,
    { name: 'nodes_question', arguments: { text: mark } },
    { onMessage, patience: ANSWER }
  )
  const answered = await answering
  const outcome = judge(answer, mark)
  // An answer that was refused is not one.
  finish(
    caller,
    'question',
    node,
    outcome === 'lost' && answered?.status !== 202 ? 'refused' : outcome,
    `${describe(answer)}, answered with ${answered?.status}`
  )
}

/** Answers at the next node; and at another one where the node was harmed before it acknowledged the answer. */
async function answerAtNext (caller: Caller, id: unknown, result: object): Promise<Answer> {
  for (let left = caller.cluster.nodes.length; ; left--) {
    const node = caller.cluster.next()
    const answered = await caller.answer(node, id, result)
    if (answered.status !== 0 || !node.harmed || left === 0) return answered
  }
}

/** Reads on where a reply was cut, at one node after the other, until its end. */
export async function resume (caller: Caller, first: Answer): Promise<{ answer: Answer, messages: Message[] }> {
  const messages = [...first.messages]
  let [answer, lastId] = [first, first.lastId]
  for (
    const end = Date.now() + RESUME;
    lastId !== undefined && !answer.late && !isFinal(messages.at(-1)?.text) && Date.now() < end;
  ) {
    answer = await caller.listen(caller.cluster.next(), lastId, {
      most: 1 + Math.floor(Math.random() * STEPS * 4),
      patience: RESUME
    })
    messages.push(...answer.messages)
    lastId = answer.lastId ?? lastId
    if (answer.status === 404 || answer.status === 204) break
    if (answer.messages.length === 0) await sleep(AGAIN)
  }
  return { answer, messages }
}

/** Opens a session where there is none. */
export async function hasSession (caller: Caller): Promise<boolean> {
  if (caller.session !== undefined) return true
  const node = caller.cluster.next()
  const outcome = await caller.open(node)
  note(caller, 'initialize', node, outcome)
  if (outcome !== 'right') await sleep(AGAIN)
  return outcome === 'right'
}

/** A client whose session is gone, or may be answering still, opens another one. */
function finish (caller: Caller, kind: string, node: Node, outcome: Outcome, sample: string): void {
  note(caller, outcome === 'gone' && caller.isUncertain ? `${kind}, opened while harmed` : kind, node, outcome, sample)
  if (outcome === 'gone' || outcome === 'lost' || outcome === 'cut' || outcome === 'refused') caller.session = undefined
}

export function note ({ tally }: Caller, kind: string, { harmed }: Node, outcome: Outcome, sample = ''): void {
  tally.note(harmed ? `${kind}, harmed` : kind, outcome, sample)
}

function countSteps ({ tally }: Caller, mark: string, messages: Message[]): void {
  const steps = messages.flatMap(({ text }) =>
    /"method":"notifications\/progress"/.test(text) ? [Number(/"progress":(\d+)/.exec(text)?.[1])] : []
  )
  const different = new Set(steps).size
  tally.events.heard += steps.length
  tally.events.lost += STEPS - different
  tally.events.doubled += steps.length - different
  if (steps.some((step, index) => index > 0 && step < (steps[index - 1] ?? 0))) tally.events.disordered++
  if (steps.length !== STEPS) {
    tally.sample(
      'events of a reply',
      `${mark}: ${messages.map(({ id, text }) => `${id} ${/"progress":(\d+)/.exec(text)?.[1] ?? 'answer'}`).join(', ')}`
    )
  }
}
