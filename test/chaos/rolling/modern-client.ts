import type { Json } from '../../support/event-reader.js'
import { modernMeta } from '../../support/modern.js'
import { noteRun, type Tally } from './tally.js'

const HEADERS = {
  'content-type': 'application/json',
  accept: 'application/json, text/event-stream',
  'mcp-protocol-version': '2026-07-28',
  'mcp-method': 'tools/call',
  'mcp-name': 'note_run'
}

/** Makes one call of 2026-07-28 after the other, until the signal. */
export async function callModern (url: string, tally: Tally, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    const token = tally.next()
    tally.note(token, await send(url, JSON.stringify(noteRun('same', token, 0, modernMeta()))).catch(String))
  }
}

async function send (url: string, body: string): Promise<Json | string> {
  const response = await fetch(`${url}/mcp`, { method: 'POST', headers: HEADERS, body })
  const text = await response.text()
  return response.ok ? JSON.parse(text) as Json : `${response.status} ${text.slice(0, 100)}`
}
