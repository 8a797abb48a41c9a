/**
 * A message of a client that another node got: an answer to a request of ours, or the cancellation of a call. Where it arrives, the session has to
 * be there and to be that caller's.
 */
export interface NodeMessage { session: string, principal: string | undefined, text: string }
