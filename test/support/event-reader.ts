import { within } from './wait.js'

export type Json = Record<string, unknown>

export interface ServerEvent { event?: string, id?: string, retry?: string, data?: string, comment?: string }

const DEADLINE = 5_000

/** Reads an event stream as a client does, comments included. */
export class SseReader {
  readonly response: Response
  readonly #controller: AbortController
  readonly #events: AsyncGenerator<ServerEvent>

  constructor (response: Response, controller: AbortController) {
    this.response = response
    this.#controller = controller
    this.#events = parse(response)
  }

  /** The next event or comment; undefined when the stream is over. */
  async any (): Promise<ServerEvent | undefined> {
    return await within(DEADLINE, async signal => {
      signal.addEventListener('abort', () => this.drop(), { once: true })
      const { value, done } = await this.#events.next()
      return done === true ? undefined : value as ServerEvent
    })
  }

  /** The next event that is no comment. */
  async event (): Promise<ServerEvent | undefined> {
    for (;;) {
      const event = await this.any()
      if (event?.comment === undefined) return event
    }
  }

  /** The JSON of the next event with data. */
  async message (): Promise<Json> {
    for (;;) {
      const event = await this.event()
      if (event === undefined) throw new Error('the stream is over')
      if (event.data !== undefined && event.data !== '') return JSON.parse(event.data) as Json
    }
  }

  /** Everything up to the end. */
  async rest (): Promise<ServerEvent[]> {
    const events: ServerEvent[] = []
    for (let event = await this.event(); event !== undefined; event = await this.event()) events.push(event)
    return events
  }

  drop (): void {
    this.#controller.abort()
  }
}

export async function openStream (url: string, init: RequestInit = {}): Promise<SseReader> {
  const controller = new AbortController()
  const headers = { accept: 'text/event-stream, application/json', ...init.headers }
  return new SseReader(await fetch(url, { ...init, headers, signal: controller.signal }), controller)
}

async function * parse (response: Response): AsyncGenerator<ServerEvent> {
  let text = ''
  const decoder = new TextDecoder()
  for await (const chunk of response.body ?? []) {
    text += decoder.decode(chunk as Uint8Array, { stream: true })
    const blocks = text.split('\n\n')
    text = blocks.pop() ?? ''
    for (const block of blocks) yield fields(block)
  }
}

function fields (block: string): ServerEvent {
  const event: Record<string, string> = {}
  for (const line of block.split('\n')) {
    const colon = line.indexOf(':')
    const name = colon === 0 ? 'comment' : line.slice(0, colon)
    event[name] = line.slice(colon + 1).replace(/^ /, '')
  }
  return event
}
