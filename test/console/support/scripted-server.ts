import type { BrowserContext } from 'playwright-core'

export type Json = Record<string, unknown>

/** Sends a notification or a request to the page. */
export type Tell = (message: Json) => void

/** What a request gets; `undefined` leaves it open. Throw a `Refusal` for an error. */
export type Answers = Record<string, (params: Json, tell: Tell, id: unknown) => Json | undefined>

export class Refusal extends Error {
  constructor (readonly code: number, message: string, readonly data?: unknown) { super(message) }
}

/**
 * The sockets of the page are answered by the test, so a server may say what no gateway would let through. The page
 * itself is the gateway's.
 */
export async function scriptServer (
  context: BrowserContext,
  answers: Answers,
  write: (message: Json) => string = JSON.stringify
): Promise<void> {
  await context.routeWebSocket('**/mcp', socket => {
    const tell: Tell = message => socket.send(write({ jsonrpc: '2.0', ...message }))
    socket.onMessage(text => {
      const { id, method, params = {} } = JSON.parse(String(text)) as { id?: unknown, method?: string, params?: Json }
      if (id === undefined || method === undefined) return
      try {
        const answer = answers[method]
        if (answer === undefined) throw new Refusal(-32601, 'Method not found')
        const result = answer(params, tell, id)
        if (result !== undefined) tell({ id, result: { resultType: 'complete', ...result } })
      } catch (error) {
        if (!(error instanceof Refusal)) throw error
        tell({ id, error: { code: error.code, message: error.message, data: error.data } })
      }
    })
  })
}
