import { once } from 'node:events'
import { get, type IncomingMessage } from 'node:http'
import { within } from './deadline.js'

export interface StreamEvent { event: string | undefined, id: string | undefined, data: string }

export interface EventStream {
  status: number
  headers: IncomingMessage['headers']
  /** Hangs up without a word. */
  close: () => Promise<void>
}

/** Opens an event stream with GET; settles when its headers are there. */
export async function openEvents (port: number, path: string, headers: Record<string, string>, onEvent: (event: StreamEvent) => void): Promise<EventStream> {
  const request = get({ port, host: '127.0.0.1', path, headers: { accept: 'text/event-stream', ...headers }, agent: false })
  const [response] = await within(`an answer to GET ${path}`, once(request, 'response')) as [IncomingMessage]
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
      await within('the end of the stream', once(response, 'close'))
    }
  }
}

function parse (block: string): StreamEvent {
  const fields = new Map(block.split('\n').map(line => [line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 1).trim()]))
  return { event: fields.get('event'), id: fields.get('id'), data: fields.get('data') ?? '' }
}
