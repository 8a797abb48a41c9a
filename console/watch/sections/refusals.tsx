import { ServerText } from '../../parts/server-text.js'
import { ago } from '../../parts/words.js'
import { count, counted, refusalWords, windowWords } from '../words.js'
import { Section, type SectionProps } from './section.js'

/** Refusals of the gateway in the last five minutes, the most frequent first. */
export function RefusalsSection ({ feed, now }: SectionProps) {
  const refusals = [...feed.refusals.value].sort((a, b) => b.count - a.count)
  const since = windowWords(feed.gateway.value, now.value)
  const all = refusals.reduce((sum, refusal) => sum + refusal.count, 0)
  return (
    <Section title='Refusals' aside={`${count(all)}, ${since.short}`}>
      {refusals.length === 0 ? <p class='quiet'>Nothing was refused {since.sentence}.</p> : null}
      <ul class='watch-rows'>
        {refusals.map(refusal => (
          <li key={`${refusal.reason} ${refusal.status}`} class='row spread'>
            <span>
              <ServerText text={refusalWords(refusal)} />
              {refusal.status === undefined ? null : <span class='quiet small'> status {refusal.status}</span>}
            </span>
            <span class='small'>
              <strong>{counted(refusal.count, 'time')}</strong>, last {ago(now.value - refusal.last)}
            </span>
          </li>
        ))}
      </ul>
    </Section>
  )
}
