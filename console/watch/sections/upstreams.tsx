import { ServerText } from '../../parts/server-text.js'
import { span } from '../../parts/time-words.js'
import type { UpstreamRow } from '../batch.js'
import { counted } from '../words.js'
import { Section, type SectionProps } from './section.js'

/** The servers behind the gateway, with what they wrote last when they failed. */
export function UpstreamsSection ({ feed, now }: SectionProps) {
  const upstreams = feed.upstreams.value
  return (
    <Section title='Upstreams' aside={upstreams.length === 0 ? undefined : counted(upstreams.length, 'server')}>
      {upstreams.length === 0 ? <p class='quiet'>No upstream server is configured.</p> : null}
      <ul class='watch-rows'>{upstreams.map(upstream => <Row key={upstream.alias} upstream={upstream} now={now.value} />)}</ul>
    </Section>
  )
}

function Row ({ upstream: { alias, state, since, lastError, lastLines = [], tools }, now }: { upstream: UpstreamRow, now: number }) {
  return (
    <li class='watch-upstream'>
      <p class='row'>
        <strong><ServerText text={alias} /></strong>
        <span class={`badge ${toneOf(state)}`}><ServerText text={state} /></span>
        <span class='quiet small'>{since === undefined ? null : `for ${span(now - since)}`}{tools === undefined ? null : `${since === undefined ? '' : ', '}${counted(tools, 'tool')}`}</span>
      </p>
      {lastError === undefined ? null : <p class='small'>Last error: <ServerText text={lastError} /></p>}
      {lastLines.length === 0
        ? null
        : <details><summary class='small'>Last {counted(lastLines.length, 'line')} of its standard error</summary><ServerText block text={lastLines.join('\n')} /></details>}
    </li>
  )
}

const toneOf = (state: string): string => state === 'ready' ? 'good' : state === 'crash loop' || state === 'closed' ? 'bad' : state === 'disabled' ? '' : 'warn'
