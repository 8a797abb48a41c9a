/** What nodes send each other. */
export type NodeMessage = PassedMessage | { kind: 'question', number: number, question: NodeQuestion } | { kind: 'answer', number: number, answer: unknown }

/**
 * A message of a client that another node got: an answer to a request of ours, or the cancellation of a call. Where it arrives, the session has to
 * be there and to be that caller's.
 */
export interface PassedMessage { kind: 'passed', session: string, principal: string | undefined, text: string }

/** What a node asks another one. */
export interface NodeQuestion {
  /** `refresh`: read a session again, of which you are the home, and tell whether you serve it. */
  readonly kind: 'refresh'
  readonly session: string
}
