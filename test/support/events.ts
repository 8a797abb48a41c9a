import { once } from 'node:events'
import { request as httpRequest, type IncomingMessage } from 'node:http'
import { inTime } from './wait.js'

export interface StreamEvent { event: string | undefined, id: string | undefined, data: string }

export interface EventStream {
  status: number
  headers: IncomingMessage['headers']
  /** Hangs up without a word. */
  close: () => Promise<void>
}

/** Opens an event stream with GET, or with POST where there is a body; settles when its headers are there. */
export async function openEvents (port: number, path: string, headers: Record<string, string>, onEvent: (event: StreamEvent) => void, body?: string): Promise<EventStream> {
  const type = body === undefined ? {} : { 'content-type': 'application/json' }
  const request = httpRequest({ port, host: '127.0.0.1', path, method: body === undefined ? 'GET' : 'POST', headers: { accept: 'text/event-stream, application/json', ...type, ...headers }, agent: false })
  request.end(body)
  const [response] = await inTime(once(request, 'response'), `an answer from ${path}`) as [IncomingMessage]
  response.on('error', () => {})
  request.on('error', () => {})
  let rest = ''
  response.setEncoding('utf8').on('data', (text: string) => {
    const blocks = (rest + text).split('\n\n')
    rest = blocks.pop() ?? ''
    for (const block of blocks) if (block.includes('data: ')) onEvent(parse(block))
  })
  return {
    status: response.statusCode ?? 0,
    headers: response.headers,
    close: async () => {
      if (response.destroyed) return
      response.destroy()
      await inTime(once(response, 'close'), 'the end of the stream')
    }
  }
}

function parse (block: string): StreamEvent {
  const fields = new Map(block.split('\n').map(line => [line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 1).trim()]))
  return { event: fields.get('event'), id: fields.get('id'), data: fields.get('data') ?? '' }
}
