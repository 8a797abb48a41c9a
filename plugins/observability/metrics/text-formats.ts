import type { Exemplar, Metric } from './series.js'

/** The formats in which metrics are served, by their content types. */
export const FORMATS = {
  prometheus: 'text/plain; version=0.0.4; charset=utf-8',
  openMetrics: 'application/openmetrics-text; version=1.0.0; charset=utf-8'
} as const

export type Format = keyof typeof FORMATS

/** The format that an `Accept` header asks for: OpenMetrics where it is named, else Prometheus' own. */
export const formatFor = (accept: string | undefined): Format =>
  accept?.includes('application/openmetrics-text') === true ? 'openMetrics' : 'prometheus'

/** All metrics as text. */
export function writeMetrics (metrics: Iterable<Metric>, format: Format): string {
  let text = ''
  for (const metric of metrics) text += writeMetric(metric, format)
  return format === 'openMetrics' ? `${text}# EOF\n` : text
}

function writeMetric (metric: Metric, format: Format): string {
  const { name, help, type } = metric
  // In OpenMetrics a counter is named without the end of its samples' names.
  const family = format === 'openMetrics' && type === 'counter' ? name.replace(/_total$/, '') : name
  let text = `# HELP ${family} ${help}\n# TYPE ${family} ${type}\n`
  for (const { suffix, labels, value, exemplar } of metric.samples()) {
    text += `${name}${suffix}${labels === '' ? '' : `{${labels}}`} ${writeNumber(value)}${exemplar === undefined || format !== 'openMetrics' ? '' : writeExemplar(exemplar)}\n`
  }
  return text
}

const writeExemplar = ({ traceId, value, at }: Exemplar): string =>
  ` # {trace_id="${traceId}"} ${writeNumber(value)} ${at.toFixed(3)}`

function writeNumber (value: number): string {
  if (Number.isFinite(value)) return String(value)
  return Number.isNaN(value) ? 'NaN' : value > 0 ? '+Inf' : '-Inf'
}
