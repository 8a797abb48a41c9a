import { Type } from '@sinclair/typebox'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { Peer } from '../../protocol/peer/peer.js'
import { modern } from '../../protocol/revisions/table.js'
import { compile } from '../../protocol/schema/schema.js'
import { errors } from '../../protocol/wire/errors.js'
import { isObject } from '../../protocol/wire/json.js'
import { decodeRequest, type Incoming, type Params } from '../../protocol/wire/jsonrpc.js'
import { META } from '../../protocol/wire/meta.js'
import { viewOf, type HttpGateway } from '../http/gateway.js'
import { DISCONNECTED, takeBody } from '../http/posts.js'
import { outcomeOfCall, outcomeOfRead } from './outcome.js'
import { RestReply, type ToOutcome } from './rest-reply.js'

/** The part of the gateway that requests of plain HTTP need. */
export type RestGateway = Pick<HttpGateway, 'dispatcher' | 'connections' | 'eventStreams'>

/** Everything that a tool may ask is passed on to the client, as a problem with the status 409. */
const CAPABILITIES = { elicitation: { form: {}, url: {} }, sampling: { tools: {}, context: {} }, roots: {} }
export const QUIET_META = Object.freeze({ [META.version]: modern.version, [META.capabilities]: {} })
const CALL_META = Object.freeze({ [META.version]: modern.version, [META.capabilities]: CAPABILITIES })
const PROGRESS_META = Object.freeze({ ...CALL_META, progressToken: 'progress' })

const ANSWERS =
  'the body must be {"arguments":{…},"state":"…","answers":{…}}: the arguments of the call that was answered with the questions, the state that came with them, and an answer to each, by its key'
const checkAnswers = compile(Type.Object({
  arguments: Type.Optional(Type.Object({})),
  state: Type.Optional(Type.String()),
  answers: Type.Object({})
}, { additionalProperties: false }))

/** Calls a tool with the body as arguments; a call without one has none. */
export function callTool (gateway: RestGateway, name: string, request: FastifyRequest, reply: FastifyReply): void {
  serveCall(gateway, name, takeBody(request), paramsOfBody, request, reply, request.query)
}

/** Calls a tool with arguments that were read from the query. */
export function callToolWith (
  gateway: RestGateway,
  name: string,
  args: Params,
  request: FastifyRequest,
  reply: FastifyReply
): void {
  serveCall(gateway, name, Buffer.from(JSON.stringify(args)), paramsOfBody, request, reply, {})
}

/** Calls a tool once more, with answers to the questions that a call of it was answered with. */
export function answerTool (gateway: RestGateway, name: string, request: FastifyRequest, reply: FastifyReply): void {
  serveCall(gateway, name, takeBody(request), paramsOfAnswers, request, reply, request.query)
}

/** Reads a resource. */
export function readResource (gateway: RestGateway, uri: string, request: FastifyRequest, reply: FastifyReply): void {
  const incoming = decodeRequest(
    new Uint8Array(),
    gateway.dispatcher.limits,
    'resources/read',
    () => ({ uri, _meta: QUIET_META })
  )
  serve(gateway, incoming, new RestReply(gateway.eventStreams, reply, outcomeOfRead, {}), request, reply)
}

function serveCall (
  gateway: RestGateway,
  name: string,
  body: Uint8Array,
  paramsOf: (value: unknown) => Params,
  request: FastifyRequest,
  reply: FastifyReply,
  query: unknown
): void {
  const isAnswer = paramsOf === paramsOfAnswers
  const toOutcome: ToOutcome = (answer, status) =>
    outcomeOfCall(answer, status, () => answersPath(request, isAnswer))
  const channel = new RestReply(gateway.eventStreams, reply, toOutcome, query, () => resourcesPath(request, isAnswer))
  const _meta = channel.canStream ? PROGRESS_META : CALL_META
  const incoming = decodeRequest(
    body,
    gateway.dispatcher.limits,
    'tools/call',
    value => ({ name, ...paramsOf(value), _meta })
  )
  serve(gateway, incoming, channel, request, reply)
}

// The client's disconnection cancels its request.
function serve (
  { dispatcher, connections }: RestGateway,
  incoming: Incoming,
  channel: RestReply,
  request: FastifyRequest,
  reply: FastifyReply
): void {
  const peer = peerOf(request)
  dispatcher.lifecycle.connect(peer)
  connections.onGone(reply, () => dispatcher.lifecycle.disconnect(peer, DISCONNECTED))
  dispatcher.receive(incoming, peer, channel)
}

/** The other end of one HTTP request, which has no headers that repeat a message. */
export function peerOf (request: FastifyRequest): Peer {
  const { identity, raw: { socket } } = request
  return new Peer({ revision: modern, identity, view: viewOf(request), connection: socket })
}

function paramsOfBody (value: unknown = {}): Params {
  if (!isObject(value)) throw errors.invalidParams('the body must be a JSON object with the arguments of the tool')
  return { arguments: value }
}

function paramsOfAnswers (value: unknown): Params {
  const wrong = checkAnswers(value)
  if (wrong !== undefined) throw errors.invalidParams(`${ANSWERS} (${wrong})`)
  const { arguments: args = {}, state, answers } = value as { arguments?: Params, state?: string, answers: Params }
  return { arguments: args, inputResponses: answers, ...(state === undefined ? {} : { requestState: state }) }
}

/** Where resources are read, from the URL of a call. */
function resourcesPath (request: FastifyRequest, isAnswer: boolean): string {
  const segments = answersPath(request, isAnswer).split('/').slice(0, -3)
  return [...segments, 'resources'].join('/')
}

/** Where the answers to questions of a call are sent. A tool may itself be called "answers". */
function answersPath ({ originalUrl }: FastifyRequest, isAnswer: boolean): string {
  const [path = ''] = originalUrl.split('?', 1)
  const bare = path.endsWith('/') ? path.slice(0, -1) : path
  return isAnswer ? bare : `${bare}/answers`
}
