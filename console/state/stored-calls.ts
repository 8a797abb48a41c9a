import { effect, signal } from '@preact/signals'
import { isObject, type Json, type JsonObject } from '../client/contract.js'
import { readTab, writeTab } from '../login/tab-storage.js'
import { calls, restoreCalls, type Call, type Outcome, type RestoredCall } from './calls.js'
import { redact, REDACTED, secretPathsOf } from './redact.js'

const NAME = 'patchbay-calls'

/** The most calls that a reload keeps, and the most characters of one result and of all together. */
export const MAX_STORED = 50
const MAX_RESULT = 200_000
const MAX_TEXT = 1_500_000

/** True while the browser does not let the page keep calls over a reload. */
export const cannotStore = signal(false)

/**
 * Takes over the calls of before the reload, and stores each that ends from now on. Returns true if there were some.
 */
export function keepCalls (): boolean {
  const restored = parseCalls(readTab(NAME))
  if (restored.length > 0) restoreCalls(restored)
  effect(() => {
    const ended = calls.value.filter(call => call.outcome.value !== undefined)
    cannotStore.value = !tryWrite(ended.length === 0 ? undefined : toStoredText(ended))
  })
  return restored.length > 0
}

function tryWrite (text: string | undefined): boolean {
  try {
    return writeTab(NAME, text) || text === undefined
  } catch {
    return false
  }
}

/** The newest of these calls as text, as many as may be kept, without what may be secret. */
export function toStoredText (ended: readonly Call[]): string {
  const texts: string[] = []
  let size = 0
  for (const call of ended.slice(0, MAX_STORED)) {
    const text = JSON.stringify(storedCall(call))
    if ((size += text.length) > MAX_TEXT) break
    texts.push(text)
  }
  return `[${texts.join(',')}]`
}

function storedCall ({
  id,
  kind,
  key,
  method,
  params,
  variables,
  inputSchema,
  startedAt,
  endedAt,
  outcome,
  isRedacted
}: Call): RestoredCall {
  const secret = new Set(secretPathsOf(params.arguments, inputSchema, '/arguments'))
  const kept = redact(params, secret) as JsonObject
  const hasSecrets = isRedacted === true || JSON.stringify(kept) !== JSON.stringify(params)
  const facts = {
    id,
    kind,
    key,
    method,
    startedAt,
    params: kept,
    endedAt: endedAt.peek() ?? startedAt,
    outcome: storedOutcome(outcome.peek())
  }
  return {
    ...facts,
    ...(variables === undefined ? {} : { variables: [...variables] }),
    ...(hasSecrets ? { isRedacted: true } : {})
  }
}

function storedOutcome (outcome: Outcome | undefined): Outcome {
  if (outcome === undefined) return { type: 'lost', why: 'The page was loaded again' }
  const kept = redact(outcome as unknown as Json, new Set()) as unknown as Outcome
  if (JSON.stringify(kept).length <= MAX_RESULT) {
    return kept.type === 'error' && outcome.type === 'error' ? { ...kept, code: outcome.code } : kept
  }
  return {
    type: 'left-out',
    failed: outcome.type === 'error' || (outcome.type === 'result' && outcome.result.isError === true)
  }
}

/** Reads the stored calls, as far as that is possible: another page of the same origin may have written there. */
export function parseCalls (text: string | undefined): RestoredCall[] {
  try {
    const stored: unknown = JSON.parse(text ?? '[]')
    return Array.isArray(stored) ? stored.filter(isStored) : []
  } catch {
    return []
  }
}

function isStored (value: unknown): value is RestoredCall {
  return (
    isObject(value) &&
    typeof value.id === 'number' &&
    ['tool', 'resource', 'template', 'prompt'].includes(String(value.kind)) &&
    typeof value.key === 'string' &&
    typeof value.method === 'string' &&
    typeof value.startedAt === 'number' &&
    typeof value.endedAt === 'number' &&
    isObject(value.params) &&
    isObject(value.outcome) &&
    (value.outcome.type !== 'result' || isObject(value.outcome.result))
  )
}

/** Arguments without the members that were not kept. */
export function withoutRedacted (value: Json): Json {
  if (Array.isArray(value)) return value.filter(item => item !== REDACTED).map(withoutRedacted)
  if (!isObject(value)) return value
  return Object.fromEntries(
    Object.entries(value)
      .filter(([, member]) => member !== REDACTED)
      .map(([name, member]) => [name, withoutRedacted(member)])
  )
}
