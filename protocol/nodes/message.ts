import type { CarriedIdentity } from '../wire/carried-identity.js'
import type { LogLevel } from '../wire/log-level.js'

/** A message from node to node. */
export type NodeMessage = PassedMessage | { kind: 'question', number: number, question: NodeQuestion } | { kind: 'answer', number: number, answer: unknown } | AskerMessage | AnswererMessage | PendingMessage

/**
 * A message of a client that another node got: an answer to a request of ours, or the cancellation of a call. Where it arrives, the session has to
 * be there and to be that caller's. As a question its answer is whether it is.
 */
export interface PassedMessage { kind: 'passed', session: string, principal: string | undefined, text: string }

/** Read a session again, of which you are the home; the answer is whether you still are. */
export interface RefreshQuestion { readonly kind: 'refresh', readonly session: string }

/** I am the home of a session now; the answer is what you have not announced to its client, or nothing if you do not serve it. */
export interface HandoverQuestion { readonly kind: 'handover', readonly session: string }

/** Take a message that a client posted for its HTTP+SSE stream, which you have. */
export interface PostQuestion { readonly kind: 'post', readonly connection: string, readonly identity: CarriedIdentity, readonly view: string | undefined, readonly text: string }

/** The outcome of a forwarded POST: there is no such stream of that caller, its client has to read first, the node does not know its credential, or the reply that the POST gets. */
export type PostAnswer = 'unknown' | 'full' | 'refused' | { readonly status: number, readonly text: string | undefined }

/** Questions of a node to another one, by kind. */
export interface NodeQuestions { refresh: RefreshQuestion, handover: HandoverQuestion, post: PostQuestion, passed: PassedMessage }
export type NodeQuestion = NodeQuestions[keyof NodeQuestions]

/** Of a node that asks something which may take as long as a call: the question, and that it has the answer or wants none. The number is its own. */
export interface AskerMessage { readonly kind: 'asker', readonly number: number, readonly says: { readonly question: LongQuestion } | 'done' }

/** Of the node that was asked: that it does not know of the question, what happened meanwhile, or the answer. */
export interface AnswererMessage { readonly kind: 'answerer', readonly number: number, readonly says: 'unknown' | { readonly news: unknown } | { readonly answer: unknown } }

/** About several such questions: the asker still waits, or the other node works on the answers. */
export interface PendingMessage { readonly kind: 'waits' | 'works', readonly numbers: readonly number[] }

/** Go on with a call to an upstream that is parked at your node, with the answers of its client. `bound` is the hash of the client's request. */
export interface ResumeQuestion {
  readonly kind: 'resume'
  readonly upstream: string
  readonly parkedId: string
  readonly nonce: string
  readonly principal: string | undefined
  readonly bound: string
  readonly capabilities: Record<string, unknown>
  readonly logLevel: LogLevel | undefined
  readonly answers: unknown
}

/** Questions of a node to another one that may take long, by kind. */
export interface LongQuestions { resume: ResumeQuestion }
export type LongQuestion = LongQuestions[keyof LongQuestions]
