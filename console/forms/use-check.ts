import { useSignal } from '@preact/signals'
import { useRef } from 'preact/hooks'
import type { Json } from '../client/contract.js'
import type { FieldError } from './check.js'
import { checkInTime } from './check-in-time.js'
import { readDraft, type Draft } from './draft.js'

const LATE: readonly FieldError[] = [
  { at: '', message: 'This could not be checked against its schema in a second. It can be sent all the same.' }
]

/**
 * Checks a draft when a person sends it, so that typing waits for nothing. `send` gets the value if nothing is wrong,
 * or nothing can be said about it. `errors` are those of the draft as it is: an edit makes them out of date, and a
 * check that is still running.
 */
export function useCheck (
  draft: Draft,
  send: (value: Json) => void
): { errors: readonly FieldError[], check: () => void } {
  const found = useSignal<{ draft: Draft, errors: readonly FieldError[] } | undefined>(undefined)
  const newest = useRef(draft)
  const running = useRef<Draft | undefined>(undefined)
  newest.current = draft
  const check = async (): Promise<void> => {
    const { value, errors } = readDraft(draft)
    if (value === undefined) {
      found.value = { draft, errors }
      return
    }
    if (running.current === draft) return
    running.current = draft
    const outcome = await checkInTime(value, draft.schema)
    running.current = undefined
    if (newest.current !== draft) return
    const wrong = outcome === 'late' ? LATE : outcome === 'unknown' ? [] : outcome
    // Who sends what could not be checked a second time has read why.
    if (wrong.length === 0 || (wrong === LATE && found.value?.draft === draft)) send(value)
    found.value = { draft, errors: wrong }
  }
  return {
    errors: found.value?.draft === draft ? found.value.errors : [],
    check: () => {
      void check()
    }
  }
}
