import { useComputed, useSignal, type ReadonlySignal, type Signal } from '@preact/signals'
import { useEffect, useMemo, useRef } from 'preact/hooks'
import type { Client } from '../client/contract.js'
import { Boundary } from '../parts/boundary.js'
import { ServerText } from '../parts/server-text.js'
import { now } from '../state/clock.js'
import { Feed } from './feed.js'
import { CallsSection } from './sections/calls.js'
import { Charts } from './sections/charts.js'
import { ClientsSection } from './sections/clients.js'
import { HealthSection } from './sections/health.js'
import { InFlightSection } from './sections/in-flight.js'
import { NodesSection } from './sections/nodes.js'
import { RefusalsSection } from './sections/refusals.js'
import type { SectionProps } from './sections/section.js'
import { Tiles } from './sections/tiles.js'
import { ToolsSection } from './sections/tools.js'
import { UpstreamsSection } from './sections/upstreams.js'
import { oncePerFrame, watch } from './watching.js'

/**
 * Shows what happens in the gateway, as it happens; for callers with scope `admin`. Without a client it stays as it
 * was, until there is one again.
 */
export function Watch ({ client }: { client: Client | undefined }) {
  const feed = useMemo(() => new Feed(), [])
  const paused = useSignal(false)
  const { ended, again } = useWatch(client, feed, paused)
  const gatewayNow = useGatewayClock(feed.signals.ahead, paused)
  const pause = (): void => {
    paused.value = !paused.value
    if (!paused.value) feed.publish()
  }
  const props: SectionProps = { feed: feed.signals, now: gatewayNow }
  return (
    <div class='watch'>
      <header class='row spread'>
        <h1>Watch</h1>
        <button type='button' aria-pressed={paused.value} onClick={pause}>Pause</button>
      </header>
      <Ended why={ended} again={again} />
      <Boundary><HealthSection {...props} /></Boundary>
      <Boundary><Tiles {...props} /></Boundary>
      <Boundary><Charts {...props} /></Boundary>
      <Boundary><CallsSection {...props} /></Boundary>
      <Boundary><InFlightSection {...props} /></Boundary>
      <Boundary><ToolsSection {...props} /></Boundary>
      <Boundary><ClientsSection {...props} /></Boundary>
      <div class='watch-pair'>
        <Boundary><RefusalsSection {...props} /></Boundary>
        <Boundary><NodesSection {...props} /></Boundary>
      </div>
      <Boundary><UpstreamsSection {...props} /></Boundary>
    </div>
  )
}

function Ended ({ why, again }: { why: Signal<string | undefined>, again: () => void }) {
  return (
    <div role='status'>
      {why.value === undefined
        ? null
        : (
          <p class='note warn row spread'>
            <span>
              <ServerText text={why.value} /> What is below does not change any more.
            </span>{' '}
            <button type='button' onClick={again}>
              Watch again
            </button>
          </p>
          )}
    </div>
  )
}

/** Watches as long as there is a client. `ended` says why the gateway ended that, and `again` asks it once more. */
function useWatch (
  client: Client | undefined,
  feed: Feed,
  paused: ReadonlySignal<boolean>
): { ended: Signal<string | undefined>, again: () => void } {
  const ended = useSignal<string | undefined>(undefined)
  const round = useSignal(0)
  useEffect(() => {
    ended.value = undefined
    if (client === undefined) return
    const frame = oncePerFrame(
      () => {
        if (!paused.peek()) feed.publish()
      },
      run => requestAnimationFrame(run),
      asked => cancelAnimationFrame(asked)
    )
    const leave = watch(client, feed, {
      changed: frame.ask,
      ended: why => {
        ended.value = why
      }
    })
    return () => {
      leave()
      frame.forget()
    }
  }, [client, round.value])
  return {
    ended,
    again: () => {
      round.value++
    }
  }
}

/** Once a second, unless the page is paused. */
function useGatewayClock (ahead: ReadonlySignal<number>, paused: ReadonlySignal<boolean>): ReadonlySignal<number> {
  const last = useRef(0)
  return useComputed(() => {
    if (!paused.value) last.current = now.value + (Number.isFinite(ahead.value) ? ahead.value : 0)
    return last.current
  })
}
