import { useComputed, useSignal, type Signal } from '@preact/signals'
import { Component } from 'preact'
import { useRef } from 'preact/hooks'
import { ServerText } from '../../parts/server-text.js'
import { Time } from '../../parts/time.js'
import { duration } from '../../parts/words.js'
import { callsShown, type CallFilter } from '../rows.js'
import type { CallRow } from '../feed.js'
import { count, counted, isError, OUTCOMES, outcomeWords } from '../words.js'
import { Section, useFirstRows, type SectionProps } from './section.js'
import { CallerNames, SubjectNames } from './names.js'

/** Calls as they end. The list stays as it is while one reads it: while it is scrolled, or has the focus. */
export function CallsSection ({ feed }: SectionProps) {
  const filter = useSignal<CallFilter>({ text: '', outcome: '', hideOwn: false })
  const read = useSignal<readonly CallRow[] | undefined>(undefined)
  const shown = useComputed(() => callsShown(feed.calls.value, filter.value, read.value))
  const list = useRef<HTMLDivElement>(null)
  const look = (): void => {
    const element = list.current
    if (element === null) return
    const isRead = element.scrollTop > 0 || element.contains(document.activeElement)
    if (!isRead) read.value = undefined
    else read.value ??= feed.calls.peek()
  }
  const { rows, newer } = shown.value
  const { first, button, fold } = useFirstRows(rows)
  const follow = (): void => {
    if (list.current !== null) list.current.scrollTop = 0
    fold()
    read.value = undefined
  }
  return (
    <Section
      title='Calls'
      aside={`${count(rows.length + newer)} of the last ${count(feed.calls.value.length)}, newest first`}
    >
      <Filters filter={filter} newer={newer} follow={follow} />
      <div
        ref={list}
        class='watch-scroll'
        role='region'
        aria-label='Calls that have ended'
        tabIndex={0}
        onScroll={look}
        onFocusIn={look}
        onFocusOut={() => setTimeout(look)}
      >
        <ol class='watch-rows'>
          {first.map(call => (
            <Row key={call.number} call={call} />
          ))}
        </ol>
        {button}
        {rows.length === 0
          ? (
            <p class='quiet'>
              {newer > 0 || feed.calls.value.length > 0
                ? 'None of the calls fits.'
                : 'No call has ended since the gateway started.'}
            </p>
            )
          : null}
      </div>
    </Section>
  )
}

function Filters ({ filter, newer, follow }: { filter: Signal<CallFilter>, newer: number, follow: () => void }) {
  const change = (part: Partial<CallFilter>): void => { filter.value = { ...filter.value, ...part } }
  return (
    <div class='row watch-filters'>
      <label>
        Filter{' '}
        <input
          type='search'
          placeholder='tool, client, caller…'
          value={filter.value.text}
          onInput={event => change({ text: event.currentTarget.value })}
        />
      </label>
      <label>
        <span>Outcome</span>
        <select value={filter.value.outcome} onChange={event => change({ outcome: event.currentTarget.value })}>
          <option value=''>all</option>
          {OUTCOMES.map(outcome => (
            <option key={outcome} value={outcome}>
              {outcome}
            </option>
          ))}
        </select>
      </label>
      <label class='row'>
        <input
          type='checkbox'
          checked={filter.value.hideOwn}
          onChange={event => change({ hideOwn: event.currentTarget.checked })}
        />{' '}
        Hide calls of this page
      </label>
      <button type='button' class={newer > 0 ? 'primary' : ''} aria-disabled={newer === 0} onClick={follow}>
        {newer > 0 ? `${counted(newer, 'new call')}: show` : 'Newest are shown'}
      </button>
    </div>
  )
}

/** A call does not change once it has ended. */
class Row extends Component<{ call: CallRow }> {
  override shouldComponentUpdate (): boolean {
    return false
  }

  override render ({ call }: { call: CallRow }) {
    return (
      <li class={call.own === true ? 'watch-row own' : 'watch-row'}>
        <span class='quiet'>
          <Time at={call.at} />
        </span>
        <span class={isError(call.outcome) ? 'badge bad' : call.outcome === 'ok' ? 'badge good' : 'badge'}>
          <ServerText text={outcomeWords(call.outcome, call.code, call.rule)} />
        </span>
        <SubjectNames {...call} />
        <span class='watch-number'>{duration(call.ms)}</span>
        <CallerNames {...call} />
      </li>
    )
  }
}
