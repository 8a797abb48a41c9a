import { useComputed, useSignal, type ReadonlySignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { duration } from '../../parts/words.js'
import type { Second } from '../../client/watch-batch.js'
import { fill, timeWindow } from '../time-window.js'
import { rate } from '../words.js'
import { Chart } from './chart.js'
import type { SectionProps } from './section.js'

/** With reduced motion, the charts are drawn anew this often only. */
const CALM_MS = 10_000

/** Rate with errors, and latency, over up to five minutes. */
export function Charts ({ feed, now }: SectionProps) {
  const calm = useReducedMotion()
  const drawnAt = useComputed(() => calm.value ? Math.floor(now.value / CALM_MS) * CALM_MS : now.value)
  const isKnown = useComputed(() => feed.seconds.value.length > 0)
  const drawn = useComputed(() => {
    const at = drawnAt.value
    const seconds = calm.value && isKnown.value ? feed.seconds.peek() : feed.seconds.value
    const shown = timeWindow(seconds, at)
    return { end: shown.from + shown.length * 1000, seconds: fill(seconds, shown) }
  })
  const { end, seconds } = drawn.value
  const line = (name: string, value: (second: Second) => number | undefined) => ({
    name,
    values: seconds.map(second => (second === undefined ? undefined : value(second)))
  })
  const latency = (part: 'p50' | 'p95' | 'p99') => line(part, second => second.calls === 0 ? undefined : second[part])
  return (
    <section class='watch-pair' aria-label='Charts'>
      <Chart
        title='Calls a second'
        lines={[line('calls', second => second.calls), line('errors', second => second.errors)]}
        end={end}
        words={rate}
        none='not known'
      />
      <Chart
        title='Time that calls take'
        lines={[latency('p50'), latency('p95'), latency('p99')]}
        end={end}
        words={duration}
        none='no calls'
        log
      />
    </section>
  )
}

function useReducedMotion (): ReadonlySignal<boolean> {
  const asked = matchMedia('(prefers-reduced-motion: reduce)')
  const reduced = useSignal(asked.matches)
  useEffect(() => {
    const change = (): void => { reduced.value = asked.matches }
    asked.addEventListener('change', change)
    return () => asked.removeEventListener('change', change)
  }, [])
  return reduced
}
