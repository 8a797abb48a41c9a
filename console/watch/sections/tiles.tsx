import { useComputed } from '@preact/signals'
import { currentRate, fill, timeWindow } from '../time-window.js'
import { count, errorRate, percentile, rate, windowWords } from '../words.js'
import type { SectionProps } from './section.js'

/** The numbers that a person looks at first. */
export function Tiles ({ feed, now }: SectionProps) {
  const perSecond = useComputed(() =>
    rate(currentRate(fill(feed.seconds.value, timeWindow(feed.seconds.value, now.value))))
  )
  const totals = feed.totals.value
  const { short, sentence } = windowWords(feed.gateway.value, now.value)
  const { total, sessions } = feed.clients.value
  return (
    <dl class='watch-tiles' aria-label={`Now and ${sentence}`}>
      <Tile name='Calls a second' value={perSecond.value} note='now' />
      <Tile
        name='Errors'
        value={errorRate(totals)}
        note={`${count(totals.errors)} of ${count(totals.calls)}, ${short}`}
        bad={totals.errors > 0}
      />
      <Tile name='Half take up to' value={percentile(totals.p50, totals.calls)} note={`p50, ${short}`} />
      <Tile name='95 % take up to' value={percentile(totals.p95, totals.calls)} note={`p95, ${short}`} />
      <Tile name='99 % take up to' value={percentile(totals.p99, totals.calls)} note={`p99, ${short}`} />
      <Tile name='In flight' value={count(feed.inFlight.value.total)} note='calls not answered yet' />
      <Tile name='Clients' value={count(total)} note={`${count(sessions)} with a session`} />
      <Tile name='Left out' value={count(feed.dropped.value)} note='calls not listed below' />
    </dl>
  )
}

/** A dash stands for a value that there is none of, because there were no calls. */
function Tile ({
  name,
  value,
  note,
  bad = false
}: {
  name: string
  value: string | undefined
  note: string
  bad?: boolean
}) {
  return (
    <div class='card watch-tile'>
      <dt class='quiet small'>{name}</dt>
      <dd>
        <span class={bad ? 'watch-value error' : 'watch-value'}>{value ?? <NoCalls />}</span>{' '}
        <span class='quiet small'>{note}</span>
      </dd>
    </div>
  )
}

function NoCalls () {
  return <><span aria-hidden='true'>–</span><span class='visually-hidden'>no calls</span></>
}
