import { constants, monitorEventLoopDelay, PerformanceObserver, type PerformanceEntry } from 'node:perf_hooks'
import heapSize from 'prom-client/lib/metrics/heapSizeAndUsed.js'
import heapSpaces from 'prom-client/lib/metrics/heapSpacesSizeAndUsed.js'
import memory from 'prom-client/lib/metrics/osMemoryHeap.js'
import cpu from 'prom-client/lib/metrics/processCpuTotal.js'
import maxFiles from 'prom-client/lib/metrics/processMaxFileDescriptors.js'
import openFiles from 'prom-client/lib/metrics/processOpenFileDescriptors.js'
import startTime from 'prom-client/lib/metrics/processStartTime.js'
import nodeVersion from 'prom-client/lib/metrics/version.js'
import Registry from 'prom-client/lib/registry.js'
import { formatLabels, gauge, Histogram, type Metric } from './series.js'

/** In milliseconds. */
const RESOLUTION = 10
const NANOSECONDS = 1e9
const GC_BOUNDS = [0.001, 0.01, 0.1, 1, 2, 5]
const GC_KINDS: Record<number, string> = {
  [constants.NODE_PERFORMANCE_GC_MAJOR]: 'major',
  [constants.NODE_PERFORMANCE_GC_MINOR]: 'minor',
  [constants.NODE_PERFORMANCE_GC_INCREMENTAL]: 'incremental',
  [constants.NODE_PERFORMANCE_GC_WEAKCB]: 'weakcb'
}

/**
 * The metrics of the process that prom-client collects, by the same names. The delay of the event loop and the garbage collections are measured
 * here, because what prom-client starts for them cannot be stopped.
 */
export class ProcessMetrics {
  readonly #registry = new Registry()
  readonly #delays = monitorEventLoopDelay({ resolution: RESOLUTION })
  readonly #collections = new Histogram('nodejs_gc_duration_seconds', 'Garbage collection duration by kind, one of major, minor, incremental or weakcb.', ['kind'], GC_BOUNDS)
  readonly #observer = new PerformanceObserver(list => { for (const entry of list.getEntries()) this.#recordCollection(entry) })

  constructor () {
    for (const addTo of [cpu, startTime, memory, openFiles, maxFiles, heapSize, heapSpaces, nodeVersion]) addTo(this.#registry)
    this.#delays.enable()
    this.#observer.observe({ entryTypes: ['gc'] })
  }

  /** All of them now. Those of the event loop are about the time since they were last read. */
  async read (): Promise<Metric[]> {
    const collected = await this.#registry.getMetricsAsJSON()
    const metrics = [...collected.map(toMetric), ...this.#lag(), this.#collections]
    this.#delays.reset()
    return metrics
  }

  stop (): void {
    this.#delays.disable()
    this.#observer.disconnect()
  }

  #recordCollection (entry: PerformanceEntry): void {
    const { duration, detail: { kind } } = entry as PerformanceEntry & { detail: { kind: number } }
    this.#collections.with(GC_KINDS[kind]).observe(duration / 1_000)
  }

  #lag (): Metric[] {
    const { min, max, mean, stddev, count } = this.#delays
    const values: Record<string, number> = { min, max, mean, stddev, p50: this.#delays.percentile(50), p90: this.#delays.percentile(90), p99: this.#delays.percentile(99) }
    return Object.entries(values).map(([name, value]) =>
      constant(`nodejs_eventloop_lag_${name}_seconds`, `The ${name} of the recorded event loop delays.`, count === 0 ? 0 : value / NANOSECONDS))
  }
}

const constant = (name: string, help: string, value: number): Metric => gauge(name, help, [], () => [[value]])

type Collected = Awaited<ReturnType<Registry['getMetricsAsJSON']>>[number]

function toMetric ({ name, help, type, values }: Collected): Metric {
  return {
    name,
    help,
    type,
    samples: () => values.map(({ value, labels, metricName = name }) => ({ suffix: metricName.slice(name.length), labels: formatLabels(Object.keys(labels), Object.values(labels).map(String)), value }))
  }
}
