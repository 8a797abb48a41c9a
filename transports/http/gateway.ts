import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Dispatcher } from '../../protocol/dispatch/dispatcher.js'
import type { NodeCalls } from '../../protocol/nodes/node-calls.js'
import type { SessionRegistry } from '../../protocol/sessions/registry.js'
import type { Sink } from '../../protocol/sessions/streams/sink.js'
import type { IdentityCarrier } from '../../protocol/wire/carried-identity.js'

/** Opens server-sent event streams as HTTP replies. */
export interface EventStreamPort {
  /** False while as many streams are open as allowed. */
  readonly hasCapacity: boolean
  /** Throws an HTTP error while there is no capacity. */
  checkCapacity: () => void
  /** `nameOf` gives the `event:` name of a message by its method; `onClose` runs when the connection is closed. */
  open: (reply: FastifyReply, nameOf?: (method: string | undefined) => string | undefined, onClose?: () => void) => Sink
}

/** The part of the gateway that the HTTP transports need; `app.mcp` has all of it. */
export interface HttpGateway {
  readonly dispatcher: Dispatcher
  readonly sessions: SessionRegistry
  readonly eventStreams: EventStreamPort
  readonly nodeCalls: NodeCalls
  readonly identities: IdentityCarrier
  readonly connections: {
    /**
     * Runs `callback` once, when the reply is finished or its client has disconnected: now, if that has happened
     * already.
     */
    onGone: (reply: FastifyReply, callback: () => void) => void
  }
}

/** The parameter for the name of a view in the path of a route. No host application has one of that name. */
export const VIEW_PARAMETER = 'patchbayView'

/** The view whose URL the request was sent to; undefined for a URL without one. */
export const viewInPath = ({ params }: FastifyRequest): string | undefined =>
  (params as Record<string, string | undefined>)[VIEW_PARAMETER]

/** The view that the client sees: of its credential, or else of the URL; undefined for the whole gateway. */
export const viewOf = (request: FastifyRequest): string | undefined => request.identity.view ?? viewInPath(request)
