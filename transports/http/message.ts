import type { FastifyReply, FastifyRequest } from 'fastify'
import { httpErrors } from '../../protocol/http/http-errors.js'
import { Peer } from '../../protocol/peer/peer.js'
import { shorten } from '../../protocol/wire/errors.js'
import { oldest, revisionNamed, versions } from '../../protocol/revisions/table.js'
import { jsonChannel } from './channels.js'
import { viewOf, type HttpGateway } from './gateway.js'
import { versionHeader } from './headers.js'
import { DISCONNECTED, takeBody } from './posts.js'

/**
 * `POST /message` without a session: plain JSON-RPC without a handshake. The response is JSON, and nothing is
 * remembered.
 */
export function serveMessage (
  gateway: Pick<HttpGateway, 'dispatcher' | 'connections'>,
  request: FastifyRequest,
  reply: FastifyReply
): void {
  const { dispatcher, connections } = gateway
  const version = versionHeader(request)
  const revision = version === undefined ? oldest : revisionNamed(version)
  if (revision === undefined) throw httpErrors.unknownVersion(shorten(String(version)), versions)
  const { identity, raw: { socket } } = request
  const peer = new Peer({ revision, identity, view: viewOf(request), connection: socket })
  dispatcher.lifecycle.connect(peer)
  connections.onGone(reply, () => dispatcher.lifecycle.disconnect(peer, DISCONNECTED))
  dispatcher.receive(dispatcher.decode(takeBody(request)), peer, jsonChannel(reply))
}
