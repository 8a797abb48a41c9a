import { useEffect, useRef } from 'preact/hooks'
import { announce } from '../../parts/announce.js'
import { ServerText } from '../../parts/server-text.js'
import { span } from '../../parts/words.js'
import { healthWords } from '../words.js'
import type { SectionProps } from './section.js'

/** How the gateway is, which it is, and since when it runs. A change is announced. */
export function HealthSection ({ feed, now }: SectionProps) {
  const health = feed.health.value
  const words = healthWords(health)
  useAnnounced(
    health === undefined ? undefined : `${words}${health.reason === undefined ? '' : `. Reason: ${health.reason}`}`
  )
  return (
    <section class={`note watch-health ${toneOf(health)}`} aria-label='Health'>
      <p>
        <strong>{words}</strong>
        {health?.reason === undefined
          ? null
          : (
            <>
              . Reason: <ServerText text={health.reason} />
            </>
            )}
      </p>
      <Gateway feed={feed} now={now} />
    </section>
  )
}

function Gateway ({ feed, now }: SectionProps) {
  const gateway = feed.gateway.value
  if (gateway === undefined) return <p class='quiet small'>Waiting for the gateway…</p>
  return (
    <p class='quiet small'>
      <ServerText text={gateway.name} /> <ServerText text={gateway.version} />
      {gateway.node === undefined ? null : <>, node <code><ServerText text={gateway.node} /></code></>}
      , up for {span(now.value - gateway.startedAt)}
    </p>
  )
}

const toneOf = (health: SectionProps['feed']['health']['value']): string =>
  health === undefined ? '' : health.status === 'healthy' ? 'good' : health.ready ? 'warn' : 'bad'

/** The first words are no change. */
function useAnnounced (words: string | undefined): void {
  const said = useRef<string | undefined>(undefined)
  useEffect(() => {
    if (words === undefined) return
    if (said.current !== undefined && said.current !== words) announce(`Health of the gateway: ${words}`)
    said.current = words
  }, [words])
}
