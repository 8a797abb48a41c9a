import { useSignal, type ReadonlySignal } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import { useId } from 'preact/hooks'
import type { FeedSignals } from '../feed.js'
import { count } from '../words.js'

/** Properties of each section: the state of the feed, and the time by the clock of the gateway. */
export interface SectionProps { feed: FeedSignals, now: ReadonlySignal<number> }

interface Props {
  title: string
  /** Beside the heading, such as how many there are. */
  aside?: ComponentChildren
  children: ComponentChildren
}

/** A part of the page with a heading that names it. */
export function Section ({ title, aside, children }: Props) {
  const id = useId()
  return (
    <section class='card watch-section' aria-labelledby={id}>
      <div class='row spread'>
        <h2 id={id}>{title}</h2>
        {aside === undefined ? null : <span class='quiet small'>{aside}</span>}
      </div>
      {children}
    </section>
  )
}

/** Lets a wide or long part scroll in itself; by keyboard, too. */
export function Scroll ({ label, children }: { label: string, children: ComponentChildren }) {
  return <div class='watch-scroll' role='region' aria-label={label} tabIndex={0}>{children}</div>
}

/** Rows that are drawn before one asks for all. */
const FIRST = 50

/** The first rows of a list, a button that shows all of them, and how to go back to the first. */
export function useFirstRows<T> (rows: readonly T[]) {
  const all = useSignal(false)
  const hidden = !all.value && rows.length > FIRST
  return {
    first: hidden ? rows.slice(0, FIRST) : rows,
    button: hidden
      ? (
        <button
          type='button'
          class='plain'
          onClick={() => {
            all.value = true
          }}
        >
          Show all {count(rows.length)}
        </button>
        )
      : null,
    fold: () => {
      all.value = false
    }
  }
}
