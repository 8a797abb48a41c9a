import { createHash } from 'node:crypto'
import type { Slices } from '../../../lib/slices.js'

/** The most characters of the name of a tool. */
const MAX = 49
const HASH = 6

/** The part of an operation by which its tool is named. */
export interface Nameable { readonly operationId: string | undefined, readonly method: string, readonly path: string }

/**
 * A name of letters, digits, `_` and `-` for each operation, in their order: from its operationId, or its method and
 * path. It depends on the operations alone, and not on their order. Many take several turns of the event loop.
 */
export async function namesOf (operations: readonly Nameable[], slices: Slices): Promise<string[]> {
  const clean: string[] = []
  const counts = new Map<string, number>()
  for (const { operationId, method, path } of operations) {
    const name = cleanName(operationId ?? method.toLowerCase() + path)
    clean.push(name)
    counts.set(name, (counts.get(name) ?? 0) + 1)
    await slices.spend(name.length)
  }
  const names: string[] = []
  for (const [index, name] of clean.entries()) {
    const { method = '', path = '' } = operations[index] ?? {}
    const isClear = name.length <= MAX && counts.get(name) === 1
    names.push(isClear ? name : hashed(name, `${method} ${path}`))
    await slices.spend(path.length)
  }
  return names
}

function cleanName (text: string): string {
  const name = text.replace(/[^A-Za-z0-9_-]+/g, '_').replace(/^_+|_+$/g, '')
  return name === '' ? 'operation' : name
}

const hashed = (name: string, of: string): string =>
  `${name.slice(0, MAX - HASH - 1)}_${createHash('sha256').update(of).digest('hex').slice(0, HASH)}`
