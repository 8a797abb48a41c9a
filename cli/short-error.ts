import { pino } from 'pino'

const [MAX_TEXT, MAX_IN_STACK, MAX_INNER] = [16_384, 1_024, 20]

interface Serialized { message?: string, stack?: string, aggregateErrors?: Serialized[] }

/** Serializes an error for a log line like pino, with a message and a stack of a length at which they can be read. */
export function shortError (error: unknown): unknown {
  const serialized: unknown = error instanceof Error ? pino.stdSerializers.err(error) : error
  return error instanceof Error ? shorten(serialized as Serialized, error.message) : serialized
}

function shorten (error: Serialized, own = error.message ?? ''): Serialized {
  const { message, stack, aggregateErrors } = error
  if (typeof message === 'string') error.message = cut(message, MAX_TEXT)
  // The stack begins with the message, which must not take the place of the frames.
  if (typeof stack === 'string') error.stack = cut(own.length > MAX_IN_STACK ? stack.replace(own, () => cut(own, MAX_IN_STACK)) : stack, MAX_TEXT)
  if (Array.isArray(aggregateErrors)) error.aggregateErrors = aggregateErrors.slice(0, MAX_INNER).map(inner => typeof inner === 'object' && inner !== null ? shorten(inner) : inner)
  return error
}

const cut = (text: string, max: number): string => text.length > max ? `${text.slice(0, max)}… (${text.length - max} more characters)` : text
