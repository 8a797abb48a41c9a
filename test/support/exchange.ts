import { request, type Agent, type ClientRequest, type IncomingMessage } from 'node:http'

/** One server-sent event. */
export interface Event { name: string | undefined, data: string }

export interface Exchange { method: string, headers?: Record<string, string>, body?: string }

/** Sends one HTTP request over a real socket. A request that was dropped fails, which is no error of the server. */
export function exchange (agent: Agent, url: string, { method, headers = {}, body }: Exchange, onReply: (reply: IncomingMessage) => void): ClientRequest {
  const sent = request(url, { method, agent, headers: { ...headers, ...(body === undefined ? {} : { 'content-type': 'application/json' }) } }, reply => {
    reply.on('error', () => {})
    reply.setEncoding('utf8')
    onReply(reply)
  })
  sent.on('error', () => {})
  sent.end(body)
  return sent
}

/** Calls back for each event of a stream. */
export function readEvents (reply: IncomingMessage, onEvent: (event: Event) => void): void {
  let rest = ''
  reply.on('data', (chunk: string) => {
    const blocks = (rest + chunk).split('\n\n')
    rest = blocks.pop() ?? ''
    for (const block of blocks) onEvent({ name: field(block, 'event'), data: field(block, 'data') ?? '' })
  })
}

/** Calls back with the whole body. */
export function readBody (reply: IncomingMessage, onBody: (body: string) => void): void {
  let body = ''
  reply.on('data', (chunk: string) => { body += chunk })
  reply.on('end', () => onBody(body))
}

function field (block: string, name: string): string | undefined {
  const prefix = `${name}: `
  return block.split('\n').find(line => line.startsWith(prefix))?.slice(prefix.length)
}
