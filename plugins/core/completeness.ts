import fp from 'fastify-plugin'
import type { Call } from '../../protocol/dispatch/call.js'

declare module './mcp.js' {
  interface Mcp {
    /** Knows which callers see less than what is configured, because an upstream server was never read. */
    completeness: {
      /** True when the lists of this caller lack something: clients must not keep them. */
      isIncompleteFor: (call: Call) => boolean
      /** Sets the function that finds that out; undefined when nothing is missing for any caller. */
      checkWith: (isIncomplete: ((call: Call) => boolean) | undefined) => void
    }
  }
}

/** Tells the list methods, and those that have instructions, whether what they answer is complete. */
export default fp(async ({ mcp }) => {
  let isIncomplete: ((call: Call) => boolean) | undefined

  mcp.provide('completeness', {
    isIncompleteFor: call => isIncomplete !== undefined && isIncomplete(call),
    checkWith: check => { isIncomplete = check }
  })
}, { name: 'patchbay-completeness', dependencies: ['patchbay-mcp'] })
