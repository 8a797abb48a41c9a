import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { Peer } from '../../protocol/peer/peer.js'
import { httpErrors } from '../../protocol/http/http-errors.js'
import { oldest, revisionNamed } from '../../protocol/revisions/table.js'
import { GONE, jsonReply, takeBody } from './channels.js'

/** `POST /message` without a session: plain JSON-RPC. No handshake is needed, the answer is JSON, and nothing is remembered. */
export function serveMessage ({ mcp }: FastifyInstance, request: FastifyRequest, reply: FastifyReply): void {
  const peer = peerOf(request)
  mcp.dispatcher.connect(peer)
  mcp.connections.onGone(reply, () => mcp.dispatcher.disconnect(peer, GONE))
  mcp.dispatcher.receive(mcp.dispatcher.decode(takeBody(request)), peer, jsonReply(reply))
}

/** Speaks the oldest revision unless the header, or the message itself, says otherwise. */
function peerOf ({ identity, headers: { 'mcp-protocol-version': version } }: FastifyRequest): Peer {
  const revision = version === undefined ? oldest : revisionNamed(String(version))
  if (revision === undefined) throw httpErrors.unknownVersion(String(version))
  return new Peer({ revision, identity })
}
