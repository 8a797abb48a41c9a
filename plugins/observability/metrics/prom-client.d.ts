// The package has types for its main file only, which loads and starts everything it measures at once.
declare module 'prom-client/lib/registry.js' {
  export default class Registry {
    getMetricsAsJSON (): Promise<Array<{ name: string, help: string, type: 'counter' | 'gauge' | 'histogram', values: Array<{ value: number, labels: Record<string, string | number>, metricName?: string }> }>>
  }
}

declare module 'prom-client/lib/metrics/*.js' {
  import type Registry from 'prom-client/lib/registry.js'
  const addTo: (registry: Registry) => void
  export default addTo
}
