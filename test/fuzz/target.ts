import type { Case } from './case.js'
import type { Fault } from './oracle.js'

/** What came of a conversation. */
export interface Outcome {
  faults: Fault[]
  /** What it showed, in the words of signature.ts. */
  signatures: string[]
}

/** A server, or a part of one, that cases are sent to. */
export interface Target {
  run: (input: Case) => Promise<Outcome>
  /** True when the next good message is answered in time. */
  probe: () => Promise<boolean>
  /** What is wrong with the target besides what its clients received, since this was last asked. */
  takeFaults?: () => Fault[]
  /** What is held now; all clients have disconnected when this is asked. */
  census: () => Promise<Record<string, number>>
  close: () => Promise<void>
}
