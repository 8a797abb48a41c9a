import { progressInWords, shareOf, span } from '../../parts/words.js'
import { ServerText } from '../../parts/server-text.js'
import type { CallInFlight } from '../../client/watch-batch.js'
import { count, questionWords } from '../words.js'
import { Scroll, Section, useFirstRows, type SectionProps } from './section.js'
import { CallerNames, SubjectNames } from './names.js'

/** Calls that are not answered yet, the oldest first. */
export function InFlightSection ({ feed, now }: SectionProps) {
  const { total, rows } = feed.inFlight.value
  const { first, button } = useFirstRows(rows)
  return (
    <Section
      title='In flight'
      aside={total > rows.length ? `the ${count(rows.length)} oldest of ${count(total)}` : count(total)}
    >
      {rows.length === 0
        ? (
          <p class='quiet'>No call is in flight.</p>
          )
        : (
          <Scroll label='Calls in flight'>
            <ul class='watch-rows'>
              {first.map(call => (
                <Row key={call.key} call={call} now={now.value} />
              ))}
            </ul>
            {button}
          </Scroll>
          )}
    </Section>
  )
}

function Row ({ call, now }: { call: CallInFlight, now: number }) {
  const age = now - call.startedAt
  return (
    <li class={call.own === true ? 'watch-row watch-waiting own' : 'watch-row watch-waiting'}>
      <span class='watch-number'>{age < 1000 ? 'came just now' : `for ${span(age)}`}</span>
      <SubjectNames {...call} />
      <State {...call} />
      <CallerNames {...call} />
    </li>
  )
}

function State ({ progress, total, question }: CallInFlight) {
  const share = progress === undefined ? undefined : shareOf({ progress, total })
  return (
    <span class='row small'>
      {share === undefined ? null : <progress aria-label='Progress' value={share} />}
      {progress === undefined ? null : <span>{progressInWords({ progress, total })}</span>}
      {question === undefined ? null : <span class='badge warn'><ServerText text={questionWords(question)} /></span>}
    </span>
  )
}
