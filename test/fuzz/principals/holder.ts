import type { Head, Who } from '../case.js'
import { WHO } from '../case.js'
import { KEYS } from './callers.js'

const IN_URLS = ['access_token', 'api_key', 'apikey', 'token']
const TAKES_TICKETS = /^\/+(mcp|sse|mcp\/sse)\/?$/

/**
 * The caller of a request by the rules of docs/authentication.md, read independently of the code under test; undefined
 * for none.
 */
export function holderOf (
  { method, path, headers }: Head,
  ownerOf: (ticket: string) => Who | undefined
): Who | undefined {
  const inHeaders = headers.filter(([name]) => /^(authorization|x-api-key)$/i.test(name))
  const inUrl = queryOf(path).some(([name]) => IN_URLS.includes(name))
  const tickets = ticketsIn({ method, path, headers })
  if (inUrl || inHeaders.length + tickets.length !== 1) return undefined
  if (tickets[0] !== undefined) return ownerOf(tickets[0])
  const [name = '', value = ''] = inHeaders[0] ?? []
  const shown = /^x/i.test(name) ? value.trim() : /^bearer +(\S+)$/i.exec(value.trim())?.[1]
  return WHO.find(who => KEYS[who] === shown)
}

/** The tickets a request shows where they are taken. */
export function ticketsIn ({ method, path, headers }: Head): string[] {
  if (method !== 'GET' || !TAKES_TICKETS.test(path.split('?')[0] ?? '')) return []
  const inQuery = queryOf(path).filter(([name]) => name === 'ticket').map(([, value]) => value)
  const offered = headers
    .filter(([name]) => name.toLowerCase() === 'sec-websocket-protocol')
    .flatMap(([, value]) => value.split(','))
  return [
    ...inQuery,
    ...offered
      .map(name => name.trim())
      .filter(name => name.startsWith('ticket.'))
      .map(name => name.slice('ticket.'.length))
  ]
}

const queryOf = (path: string): Array<[string, string]> =>
  path.includes('?') ? [...new URLSearchParams(path.slice(path.indexOf('?') + 1))] : []
