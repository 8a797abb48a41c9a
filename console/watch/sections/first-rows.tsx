import { useSignal } from '@preact/signals'
import { count } from '../words.js'

/** Rows that are drawn before one asks for all. */
const FIRST = 50

/** The first rows of a list, a button that shows all of them, and how to go back to the first. */
export function useFirstRows<T> (rows: readonly T[]) {
  const all = useSignal(false)
  const hidden = !all.value && rows.length > FIRST
  return {
    first: hidden ? rows.slice(0, FIRST) : rows,
    button: hidden ? <button type='button' class='plain' onClick={() => { all.value = true }}>Show all {count(rows.length)}</button> : null,
    fold: () => { all.value = false }
  }
}
