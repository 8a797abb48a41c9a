import { sum, type Series } from '../../support/metrics.js'

/** How often each thing was counted. */
export class Counts extends Map<string, number> {
  add (key: string, count = 1): void {
    this.set(key, (this.get(key) ?? 0) + count)
  }

  get total (): number {
    return [...this.values()].reduce((sum, count) => sum + count, 0)
  }

  /** The first thing that the other counted differently; undefined if there is none. */
  difference (other: Counts): string | undefined {
    const key = [...new Set([...this.keys(), ...other.keys()])].find(key => this.get(key) !== other.get(key))
    return key === undefined ? undefined : `${key}: ${this.get(key) ?? 0} and ${other.get(key) ?? 0}`
  }
}

export interface CallFacts {
  method?: string | undefined
  tool?: string | undefined
  transport: string
  revision: string
  outcome: string
}

/** A call as patchbay_calls_total names it. */
export const callKey = ({ method = '_OTHER', tool, transport, revision, outcome }: CallFacts): string =>
  `method="${method}",${tool === undefined ? '' : `tool="${tool}",`}transport="${transport}",revision="${revision}",outcome="${outcome}"`

/** Refusals before any call are lines of the audit log, those of calls are counted with their calls. */
const OF_CALLS = 'tool_rate'

/** What one side counted: calls by all their labels, and refused requests by status. */
export class Tally {
  readonly calls = new Counts()
  readonly refused = new Counts()
}

/** Counts a line of the log, if it is one of the audit log. */
export function addLine ({ calls, refused }: Tally, line: string): void {
  if (!line.startsWith('{')) return
  const { audit } = JSON.parse(line) as { audit?: CallFacts & { status?: number } }
  if (audit?.outcome === 'refused') refused.add(String(audit.status))
  else if (audit !== undefined) calls.add(callKey(audit))
}

/** What `/metrics` has. */
export function tallyOf (series: Series): Tally {
  const tally = new Tally()
  for (const [key, value] of series) {
    const [, name, labels = ''] = /^(\w+)\{(.*)\}$/.exec(key) ?? []
    if (name === 'patchbay_calls_total') tally.calls.add(labels, value)
    if (name === 'patchbay_refused_total' && !labels.includes(`reason="${OF_CALLS}"`)) {
      tally.refused.add(/status="(\d+)"/.exec(labels)?.[1] ?? '', value)
    }
  }
  return tally
}

export const rateRefusals = (series: Series): number => sum(series, 'patchbay_refused_total', { reason: OF_CALLS })

export const timedCalls = (series: Series): number => sum(series, 'mcp_server_operation_duration_seconds_count')
