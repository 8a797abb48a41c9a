import { request, type Agent, type ClientRequest, type IncomingMessage } from 'node:http'

export interface Exchange { method: string, headers?: Record<string, string>, body?: string }

/** Sends one HTTP request over a real socket. A request that was dropped fails, which is no error of the server. */
export function exchange (
  agent: Agent,
  url: string,
  { method, headers = {}, body }: Exchange,
  onReply: (reply: IncomingMessage) => void
): ClientRequest {
  const sent = request(
    url,
    { method, agent, headers: { ...headers, ...(body === undefined ? {} : { 'content-type': 'application/json' }) } },
    reply => {
      reply.on('error', () => {})
      reply.setEncoding('utf8')
      onReply(reply)
    }
  )
  sent.on('error', () => {})
  sent.end(body)
  return sent
}

/** Calls back with the whole body. */
export function readBody (reply: IncomingMessage, onBody: (body: string) => void): void {
  let body = ''
  reply.on('data', (chunk: string) => { body += chunk })
  reply.on('end', () => onBody(body))
}
