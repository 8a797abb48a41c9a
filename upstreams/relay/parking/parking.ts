import { LongAnswers } from '../../../protocol/nodes/long-answers.js'
import { LongInquiries } from '../../../protocol/nodes/long-inquiries.js'
import type { Nodes } from '../../../protocol/nodes/nodes.js'
import { ForwardedRounds } from './forwarded-rounds.js'
import { ParkedCalls, type ParkingLimits } from './parked-calls.js'
import { serveRound } from './serve-round.js'

/** The calls that are parked at this node, and the rounds of their clients at any node that shares the store. */
export interface Parking {
  readonly calls: ParkedCalls
  /** Settles when no client of another node is being served. */
  finished (): Promise<void>
  /** Takes no more rounds of other nodes. */
  close (): void
}

export function openParking (limits: ParkingLimits, nodes: Nodes): Parking {
  if (nodes.self === undefined) return { calls: new ParkedCalls(limits), finished: async () => {}, close: () => {} }
  const inquiries = new LongInquiries(nodes)
  const answers = new LongAnswers(nodes)
  const calls = new ParkedCalls(limits, new ForwardedRounds(nodes.self, inquiries))
  answers.on('resume', async (question, onNews, cancellation) => await serveRound(calls, question, onNews, cancellation))
  const stops = [inquiries.start(), answers.start()]
  return {
    calls,
    finished: async () => await answers.finished(),
    close: () => { for (const stop of stops) stop() }
  }
}
