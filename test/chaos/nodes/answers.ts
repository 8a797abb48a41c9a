import { Report } from '../../support/report.js'
import { scenario } from '../scenario.js'
import { Caller, judge } from './caller.js'
import { Cluster, type Node } from './cluster.js'
import { Tally } from './tally.js'
import type { Answer, Message } from './wire.js'

/** For each question of a tool, how a client answers with a text. */
const RESULTS: Record<string, (text: string) => object> = {
  elicitation: text => ({ action: 'accept', content: { text } }),
  sampling: text => ({ role: 'assistant', model: 'chaos', content: { type: 'text', text } }),
  roots: text => ({ roots: [{ uri: `file:///${text}` }] })
}
const KINDS = Object.keys(RESULTS)

/** Questions of each kind that are answered at the node that asks and, in turn, at another one. Nothing is harmed. */
export const answers = scenario({ answers: 1_000, clients: 4 }, async ({ answers, clients }) => {
  const report = new Report(`nodes: ${answers} answers to questions at another node, ${clients} clients`)
  const cluster = await Cluster.start()
  const delays: Record<string, { same: number[], other: number[] }> = Object.fromEntries(
    KINDS.map(kind => [kind, { same: [], other: [] }])
  )
  let [next, wrong] = [0, '']
  await Promise.all(Array.from({ length: clients }, async () => {
    const caller = new Caller(cluster, new Tally())
    if (await caller.open(cluster.next()) !== 'right') throw new Error('no session could be opened')
    while (next < answers) {
      const kind = KINDS[next++ % KINDS.length] as string
      const asking = cluster.next()
      const others = cluster.nodes.filter(node => node !== asking)
      for (const [place, answering] of [['same', asking], ['other', others[next % others.length] as Node]] as const) {
        const { delay, failure } = await ask(caller, kind, asking, answering)
        if (failure === undefined) delays[kind]?.[place].push(delay)
        else wrong ||= `${kind} at the ${place} node: ${failure}`
      }
    }
    caller.wire.close()
  }))
  for (const kind of KINDS) {
    const { same = [], other = [] } = delays[kind] ?? {}
    report.row({
      question: kind,
      arrived: other.length,
      'ms at the same node': median(same),
      'ms at another': median(other),
      'ms added': median(other) - median(same)
    })
  }
  const arrived = Object.values(delays).reduce((sum, { other }) => sum + other.length, 0)
  report.promise(arrived === answers && wrong === '', `all ${answers} answers arrive, not ${arrived}: ${wrong}`)
  report.promise(
    cluster.exits === 0 && cluster.unhandled.length === 0,
    `no node ends or misses an error: ${cluster.unhandled[0]}`
  )
  await cluster.stop()
  return report
})

/** How many milliseconds after the answer of the client its call has the result, and what went wrong. */
async function ask (
  caller: Caller,
  kind: string,
  asking: Node,
  answering: Node
): Promise<{ delay: number, failure: string | undefined }> {
  const text = caller.mark()
  const posted: Array<Promise<Answer>> = []
  let since = 0
  const onMessage = ({ text: message }: Message): void => {
    const { id, method } = JSON.parse(message) as { id: unknown, method?: string }
    if (method === undefined || id === undefined) return
    since = performance.now()
    posted.push(caller.answer(answering, id, RESULTS[kind]?.(text) ?? {}))
  }
  const answer = await caller.callTool(asking, { name: 'nodes_question', arguments: { text, kind } }, { onMessage })
  const delay = performance.now() - since
  const status = (await posted[0])?.status
  const outcome = judge(answer, text)
  return { delay, failure: outcome === 'right' && status === 202 ? undefined : `${outcome}, answered with ${status}` }
}

const median = (values: number[]): number => [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? NaN
