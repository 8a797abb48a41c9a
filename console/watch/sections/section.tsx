import type { ReadonlySignal } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import { useId } from 'preact/hooks'
import type { FeedSignals } from '../feed.js'

/** What each section gets: the state of the feed, and the time by the clock of the gateway. */
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

/** What is so wide or so long that it scrolls in itself; by keyboard, too. */
export function Scroll ({ label, children }: { label: string, children: ComponentChildren }) {
  return <div class='watch-scroll' role='region' aria-label={label} tabIndex={0}>{children}</div>
}
