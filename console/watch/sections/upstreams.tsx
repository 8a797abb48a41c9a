import { ServerText } from '../../parts/server-text.js'
import { span } from '../../parts/words.js'
import { ServerState, StateBadge } from '../../servers/server-state.js'
import type { UpstreamRow } from '../../client/watch-batch.js'
import { counted } from '../words.js'
import { Section, type SectionProps } from './section.js'

/** The servers behind the gateway, with what they wrote, and a button to start one that does not run. */
export function UpstreamsSection ({ feed, now }: SectionProps) {
  const upstreams = feed.upstreams.value
  return (
    <Section title='Upstreams' aside={upstreams.length === 0 ? undefined : counted(upstreams.length, 'server')}>
      {upstreams.length === 0 ? <p class='quiet'>No upstream server is configured.</p> : null}
      <ul class='watch-rows'>
        {upstreams.map(upstream => (
          <Row key={upstream.alias} upstream={upstream} now={now.value} />
        ))}
      </ul>
    </Section>
  )
}

function Row ({ upstream, now }: { upstream: UpstreamRow, now: number }) {
  const { alias, state, since, tools } = upstream
  return (
    <li class='watch-upstream'>
      <p class='row'>
        <strong>
          <ServerText text={alias} />
        </strong>
        <StateBadge state={state} />
        <span class='quiet small'>
          {since === undefined ? null : `for ${span(now - since)}`}
          {tools === undefined ? null : `${since === undefined ? '' : ', '}${counted(tools, 'tool')}`}
        </span>
      </p>
      <ServerState server={upstream} now={now} />
    </li>
  )
}
