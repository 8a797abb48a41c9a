import { randomUUID } from 'node:crypto'
import { isLoopback } from '../../lib/network.js'
import type { Call } from '../../protocol/dispatch/call.js'
import { errors, type McpError } from '../../protocol/wire/errors.js'
import { isObject } from '../../protocol/wire/json.js'
import type { Upstream } from '../ports.js'
import { mayKnowReasons, whyUnsigned } from '../reasons.js'
import { ownerOf } from '../sign-in/owner.js'
import type { Offer } from '../sign-in/offer.js'
import { askClient } from './direct-call.js'
import { carriedState, carryState } from './questions/carried-state.js'
import { isAnswerable } from './questions/question.js'

/** The key of the question in a result. */
const KEY = 'patchbay-sign-in'
const METHOD = 'elicitation/create'
const COMPLETE = 'notifications/elicitation/complete'
const DECLINED = 'the sign-in was declined'

type Result = Record<string, unknown>

type Refuse = (why: string, url?: string) => McpError

/**
 * Asks the caller to sign in to a server in the browser, waits until that is done, and goes on with its call. Gives a
 * result with the question where the client has to come back. Throws an error that says what to do where the caller
 * cannot be asked.
 */
export async function askToSignIn (
  call: Call,
  upstream: Upstream,
  why: string,
  goOn: () => Promise<Result>
): Promise<Result> {
  const { entry, entry: { alias } } = upstream
  const refuse: Refuse = (why, url) => errors.signInRequired(alias, why, commandFor(call, upstream), url)
  const canBeAsked = isAnswerable({ method: METHOD, params: { mode: 'url' } }, call.capabilities, call.revision)
  const offer = await offerTo(call, upstream, canBeAsked).catch((error: Error) => {
    throw refuse(`${why}. It cannot be begun now: ${error.message}`)
  })
  if (offer === undefined) throw refuse(why)
  const { url } = offer
  const elicitationId = randomUUID()
  const message = `${alias} wants you to sign in: ${why}.`
  const question = { method: METHOD, params: { mode: 'url', elicitationId, url, message } }
  if (!canBeAsked) throw refuse(why, url)
  if (call.revision.stateless) {
    const action = actionIn(call.params['inputResponses'])
    if (action === undefined) return ask(call, alias, url, message)
    if (action !== 'accept') throw refuse(DECLINED, url)
  } else {
    // Without a stream to be asked on, the client opens the page and comes back.
    const { params } = question
    if (!call.can(METHOD, { url })) throw errors.pageRequired(message, params)
    const answer: { action?: unknown } = await askClient(call, question, call.signal)
    if (answer.action !== 'accept') throw refuse(DECLINED, url)
  }
  const owner = ownerOf(entry, call)
  await upstream.readSignIn(owner)
  try {
    // The sign-in may have been stored before it was waited for.
    return await goOn()
  } catch (error) {
    if (whyUnsigned(error) === undefined) throw error
  }
  await waitFor(offer, call, refuse)
  if (!call.revision.stateless) call.notify(COMPLETE, { elicitationId })
  await upstream.readSignIn(owner)
  return await goOn()
}

/** Only operators sign in for all callers. Here, a port is listened on only for a client that can be asked. */
async function offerTo (call: Call, upstream: Upstream, canBeAsked: boolean): Promise<Offer | undefined> {
  const { entry } = upstream
  const owner = ownerOf(entry, call)
  if (owner === undefined || (entry.auth !== 'caller' && !mayKnowReasons(call))) return undefined
  const { identity: { principal, address }, local, forwarded } = call
  const isHere = local || (principal === undefined && address !== undefined && isLoopback(address) && !forwarded)
  if (isHere && !canBeAsked) return undefined
  return await (await upstream.signInPages())?.offer(entry, { owner, principal, isHere })
}

/** The command with which the operator signs in for the caller. */
function commandFor ({ principal }: Call, { entry: { alias, auth } }: Upstream): string {
  const login = `patchbay login ${alias}`
  if (auth !== 'caller' || principal === undefined) return login
  return `${login} --as ${/^[\w:@.-]+$/.test(principal) ? principal : JSON.stringify(principal)}`
}

/** The result with the question. The upstream's own state of an earlier round is kept. */
function ask (call: Call, upstream: string, url: string, message: string): Result {
  const params = call.clientRequests.deferred.add(METHOD, { mode: 'url', message, url })
  return {
    resultType: 'input_required',
    inputRequests: { [KEY]: { method: METHOD, params } },
    requestState: carryState(call, { upstream, state: carriedState(call, upstream)?.state })
  }
}

function actionIn (responses: unknown): unknown {
  const answer = isObject(responses) ? responses[KEY] : undefined
  return isObject(answer) ? answer['action'] : undefined
}

/** The clock of the call stops meanwhile. */
async function waitFor ({ url, signedIn }: Offer, call: Call, refuse: Refuse): Promise<void> {
  const { deadline } = call.response
  deadline?.hold()
  try {
    await signedIn(call.signal)
  } catch (error) {
    call.signal.throwIfAborted()
    throw refuse((error as Error).message, url)
  } finally {
    deadline?.release()
  }
}
