import { compile, type Check, type Schema } from '../../../protocol/schema/schema.js'
import type { Operation } from '../operations/operation.js'

/** The checks of the operations that are listed with schemas of their answers; one that does not compile has none. */
const checks = new WeakMap<Operation, Check | undefined>()
/** Operations with an answer that did not fit. */
const known = new WeakSet<Operation>()

/**
 * Why the first result of an operation that does not fit its schema does not: servers break their own documents, so
 * results are passed on all the same.
 */
export function contradiction (operation: Operation, result: Record<string, unknown>): string | undefined {
  if (operation.output === undefined || result['isError'] === true || known.has(operation)) return undefined
  if (!checks.has(operation)) checks.set(operation, checkOf(operation.output as Schema))
  const wrong = result['structuredContent'] === undefined
    ? 'it is no JSON'
    : checks.get(operation)?.(result['structuredContent'])
  if (wrong !== undefined) known.add(operation)
  return wrong
}

function checkOf (schema: Schema): Check | undefined {
  try {
    return compile(schema)
  } catch {
    return undefined
  }
}
