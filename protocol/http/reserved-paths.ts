/** Paths below `/mcp` that are neither those of an upstream server nor of a view. */
const RESERVED = ['message', 'sse', 'ticket', 'v', 'ws']

/** True for a name whose URL is one of the gateway's own. */
export const isReservedPath = (name: string): boolean => RESERVED.includes(name)
