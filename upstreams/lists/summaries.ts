import type { ListGateway, Registries, Section } from './gateway.js'
import { leastHintsOf, type Snapshot } from './snapshot.js'
import type { UpstreamLists } from './upstream-lists.js'

/** Updates what depends on all upstreams together, or is said of each view: instructions and caching hints. */
export function renewSummaries (gateway: ListGateway, all: readonly UpstreamLists[]): void {
  for (const { offered: { shown }, upstream: { entry: { alias, scopes } } } of all) {
    const view = Object.assign(gateway.views.open(alias), { instructions: shown.instructions, scopes })
    limitCaching(view, [shown])
  }
  limitCaching(gateway, all.map(({ offered: { shown } }) => shown))
  gateway.instructions.append(all.flatMap(sectionOf))
}

/** A heading of Markdown as high as those of upstreams, or higher. */
const HEADING = /(?<=^ {0,3})#{1,2}(?=\s|$)/gm

/**
 * The instructions of an upstream, under its alias. Their own headings are put lower, so that none looks like that of
 * another upstream.
 */
function sectionOf ({ offered: { shown }, upstream: { entry: { alias, scopes } } }: UpstreamLists): Section[] {
  const { instructions } = shown
  return instructions === undefined
    ? []
    : [{ text: `## ${alias}\n\n${instructions.replace(HEADING, '##$&')}`, upstream: alias, scopes }]
}

function limitCaching ({ tools, prompts, resources }: Registries, snapshots: readonly Snapshot[]): void {
  tools.limitCaching(leastHintsOf(snapshots, 'tools'))
  prompts.limitCaching(leastHintsOf(snapshots, 'prompts'))
  resources.limitCaching(leastHintsOf(snapshots, 'templates'))
}
