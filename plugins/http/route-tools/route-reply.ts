import type { OutgoingHttpHeaders } from 'node:http'
import type { LightMyRequestResponse } from 'fastify'
import { Chunks } from '../../../lib/chunks.js'
import { ToolError } from '../../../protocol/wire/errors.js'

/** The reply of a route, whole; of a failure the beginning. */
export interface RouteReply {
  readonly statusCode: number
  readonly headers: OutgoingHttpHeaders
  readonly body: Buffer
}

/** So many bytes of a failure are read. */
const MAX_FAILURE = 16_384

/**
 * Reads the reply of a route as it comes, and ends the reply where it has more than `max` bytes or the call is over:
 * the route hears of it as of a client that disconnects.
 */
export async function readReply (reply: LightMyRequestResponse, max: number, signal: AbortSignal): Promise<RouteReply> {
  const { statusCode, headers, raw } = reply
  const isFailure = statusCode >= 400
  const body = new Chunks()
  try {
    for await (const chunk of reply.stream() as AsyncIterable<Buffer>) {
      if (body.size + chunk.length > (isFailure ? MAX_FAILURE : max)) {
        if (!isFailure) throw new ToolError(`HTTP ${statusCode}: the reply of the route has more than ${max} bytes (limit maxUpstreamMessage), and was not read to its end`)
        body.add(chunk.subarray(0, MAX_FAILURE - body.size))
        break
      }
      body.add(chunk)
    }
  } catch (error) {
    if (signal.aborted || error instanceof ToolError) throw error
    throw new ToolError(`HTTP ${statusCode}: the route ended its reply before it was complete`, { cause: error })
  } finally {
    raw.res.destroy()
  }
  return { statusCode, headers, body: body.take() }
}
