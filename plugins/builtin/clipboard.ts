import fp from 'fastify-plugin'
import type { Call } from '../../protocol/dispatch/call.js'
import { errors } from '../../protocol/wire/errors.js'
import { ClipboardError } from '../../system/clipboard/clipboard-error.js'
import { Clipboard } from '../../system/clipboard/clipboard.js'
import { isLoopback } from '../../lib/network.js'

declare module '../core/mcp.js' {
  interface Mcp {
    /** The clipboard of the machine. Failures are an `McpError` with details and a hint. */
    clipboard: {
      /** False where other machines can reach the gateway and option clipboard does not allow that. */
      readonly offered: boolean
      /** Throws an `McpError` when the call came through a proxy and the options do not allow that. */
      admit: (call: Call) => void
      read: (signal?: AbortSignal) => Promise<string>
      write: (text: string, signal?: AbortSignal) => Promise<void>
      /** Why there is no clipboard now, and what to do about it; undefined when there may be one. */
      obstacle: () => string | undefined
    }
  }
}

export interface ClipboardOptions {
  http: boolean
  host: string
  clipboard: { remote: boolean }
  allowForwarded: boolean
  /**
   * True where the tools of the clipboard are served if it can be used; false where they are not, whatever it can do.
   */
  wanted: boolean
}

const TOOLS = ['get_clipboard', 'set_clipboard']
const EXPOSED =
  'Other machines can reach this gateway: set option clipboard to {"remote":true} to let them use the clipboard, or listen on 127.0.0.1'
const FORWARDED: [details: string, hint: string] = [
  'The clipboard is not served to requests that came through a proxy, which have a Forwarded, Via, X-Real-IP or X-Forwarded-* header',
  'Connect to the gateway directly, or set its option allowForwarded to true'
]

export default fp(async (fastify, { http, host, clipboard: { remote }, allowForwarded, wanted }: ClipboardOptions) => {
  const clipboard = new Clipboard()
  const guarded = http && !remote
  const offered = !guarded || isLocal(host)

  fastify.mcp.provide('clipboard', {
    offered,
    admit: ({ forwarded }) => { if (forwarded && !allowForwarded) throw errors.clipboard(...FORWARDED) },
    read: async signal => await asMcpError(clipboard.read(signal)),
    write: async (text, signal) => await asMcpError(clipboard.write(text, signal)),
    obstacle: () => clipboard.obstacle()
  })

  if (!wanted) return
  const why = offered ? clipboard.obstacle() : EXPOSED
  if (why !== undefined) for (const name of TOOLS) fastify.mcp.unavailable.set(name, why)

  // A host application chooses its own address, which is known once it listens.
  if (guarded) {
    fastify.addHook('onListen', async () => {
      if (fastify.addresses().every(isLocal)) return
      for (const name of TOOLS) {
        fastify.mcp.tools.remove(name)
        fastify.mcp.unavailable.set(name, EXPOSED)
      }
    })
  }
}, { name: 'patchbay-clipboard', dependencies: ['patchbay-mcp', 'patchbay-tools', 'patchbay-unavailable'] })

/** A Unix socket has a path in place of an address. */
function isLocal (place: string | { address: string }): boolean {
  return typeof place === 'string' ? place.includes('/') || isLoopback(place) : isLoopback(place.address)
}

async function asMcpError<T> (work: Promise<T>): Promise<T> {
  try {
    return await work
  } catch (error) {
    if (!(error instanceof ClipboardError)) throw error
    throw errors.clipboard(`Failed to access system clipboard: ${error.message}`, error.hint)
  }
}
