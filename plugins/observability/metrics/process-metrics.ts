import { constants, monitorEventLoopDelay, PerformanceObserver, type PerformanceEntry } from 'node:perf_hooks'
import { readUsage } from '../../../system/process/usage.js'
import { gauge, Histogram, type Metric } from './series.js'

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
 * The metrics of the process and of Node.js, by the names that prom-client gave them and dashboards for Node.js expect.
 */
export class ProcessMetrics {
  readonly #delays = monitorEventLoopDelay({ resolution: RESOLUTION })
  readonly #collections = new Histogram(
    'nodejs_gc_duration_seconds',
    'Garbage collection duration by kind, one of major, minor, incremental or weakcb.',
    ['kind'],
    GC_BOUNDS
  )

  readonly #observer = new PerformanceObserver(list => {
    for (const entry of list.getEntries()) this.#recordCollection(entry)
  })

  constructor () {
    this.#delays.enable()
    this.#observer.observe({ entryTypes: ['gc'] })
  }

  /** Reads all of them now. Those of the event loop are about the time since they were last read. */
  async read (): Promise<Metric[]> {
    const metrics = [
      ...usageMetrics(),
      constant('nodejs_eventloop_lag_seconds', 'Lag of event loop in seconds.', await measureLag()),
      ...this.#lag(),
      this.#collections
    ]
    this.#delays.reset()
    return metrics
  }

  stop (): void {
    this.#delays.disable()
    this.#observer.disconnect()
  }

  #recordCollection (entry: PerformanceEntry): void {
    const {
      duration,
      detail: { kind }
    } = entry as PerformanceEntry & { detail: { kind: number } }
    this.#collections.with(GC_KINDS[kind]).observe(duration / 1_000)
  }

  #lag (): Metric[] {
    const { min, max, mean, stddev, count } = this.#delays
    const values: Record<string, number> = {
      min,
      max,
      mean,
      stddev,
      p50: this.#delays.percentile(50),
      p90: this.#delays.percentile(90),
      p99: this.#delays.percentile(99)
    }
    return Object.entries(values).map(([name, value]) =>
      constant(
        `nodejs_eventloop_lag_${name}_seconds`,
        `The ${name} of the recorded event loop delays.`,
        count === 0 ? 0 : value / NANOSECONDS
      )
    )
  }
}

/** Measures how long what is due now has to wait, in seconds. */
async function measureLag (): Promise<number> {
  const start = performance.now()
  await new Promise(resolve => setImmediate(resolve))
  return (performance.now() - start) / 1_000
}

function usageMetrics (): Metric[] {
  const { cpu, memory, heapSpaces, startedAt, openFiles, maxOpenFiles, version } = readUsage()
  const [major, minor, patch] = version.slice(1).split('.')
  const space = (kind: 'total' | 'used' | 'available'): Metric =>
    gauge(
      `nodejs_heap_space_size_${kind}_bytes`,
      `Process heap space size ${kind} from Node.js in bytes.`,
      ['space'],
      () => heapSpaces.map(space => [space[kind], space.name] as const)
    )
  const all: Array<Metric | undefined> = [
    counter('process_cpu_user_seconds_total', 'Total user CPU time spent in seconds.', cpu.user),
    counter('process_cpu_system_seconds_total', 'Total system CPU time spent in seconds.', cpu.system),
    counter('process_cpu_seconds_total', 'Total user and system CPU time spent in seconds.', cpu.user + cpu.system),
    constant('process_start_time_seconds', 'Start time of the process since unix epoch in seconds.', startedAt),
    ifKnown('process_resident_memory_bytes', 'Resident memory size in bytes.', memory.resident),
    ifKnown('process_virtual_memory_bytes', 'Virtual memory size in bytes.', memory.virtual),
    ifKnown('process_heap_bytes', 'Process heap size in bytes.', memory.data),
    ifKnown('process_open_fds', 'Number of open file descriptors.', openFiles),
    ifKnown('process_max_fds', 'Maximum number of open file descriptors.', maxOpenFiles),
    constant('nodejs_heap_size_total_bytes', 'Process heap size from Node.js in bytes.', memory.heapTotal),
    constant('nodejs_heap_size_used_bytes', 'Process heap size used from Node.js in bytes.', memory.heapUsed),
    constant('nodejs_external_memory_bytes', 'Node.js external memory size in bytes.', memory.external),
    space('total'),
    space('used'),
    space('available'),
    gauge('nodejs_version_info', 'Node.js version info.', ['version', 'major', 'minor', 'patch'], () => [
      [1, version, major, minor, patch]
    ])
  ]
  return all.filter(metric => metric !== undefined)
}

const constant = (name: string, help: string, value: number): Metric => gauge(name, help, [], () => [[value]])
const ifKnown = (name: string, help: string, value: number | undefined): Metric | undefined =>
  value === undefined ? undefined : constant(name, help, value)
const counter = (name: string, help: string, value: number): Metric => ({
  ...constant(name, help, value),
  type: 'counter'
})
