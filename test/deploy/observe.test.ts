import { readFileSync } from 'node:fs'
import t from 'tap'
import { parse } from 'yaml'
import { listening } from '../support/gateway.js'
import { openSession } from '../support/http-session.js'
import { deployed, ROOT } from './files.js'

/** Labels that Prometheus adds, and the one of buckets. */
const ADDED = ['job', 'instance', 'le']

interface Target { expr: string }
interface Panel {
  type: string
  title: string
  datasource?: { uid: string }
  gridPos: { x: number, y: number, w: number, h: number }
  targets?: Target[]
}
interface Dashboard {
  templating: { list: Array<{ name: string, type: string, definition?: string }> }
  panels: Panel[]
}
interface Rules {
  groups: Array<{ rules: Array<{ alert: string, expr: string, annotations: Record<string, string> }> }>
}

const dashboard = JSON.parse(deployed('grafana/patchbay.json')) as Dashboard
const { groups } = parse(deployed('prometheus/rules.yml')) as Rules
const expressions = [
  ...dashboard.panels.flatMap(({ title, targets = [] }) => targets.map(({ expr }) => [title, expr] as const)),
  ...dashboard.templating.list.flatMap(({ name, definition }) =>
    definition === undefined ? [] : [[name, definition] as const]
  ),
  ...groups.flatMap(({ rules }) => rules.map(({ alert, expr }) => [alert, expr] as const))
]

/**
 * The metrics of a gateway after some calls: the labels of each metric by its name, and none where it has no series
 * yet.
 */
async function served (url: string): Promise<Map<string, Set<string>>> {
  const text = await (await fetch(`${url}/metrics`)).text()
  const found = new Map<string, Set<string>>([['up', new Set()]])
  for (const [, name = '', type] of text.matchAll(/^# TYPE (\w+) (\w+)$/gm)) {
    for (const suffix of type === 'histogram' ? ['_bucket', '_sum', '_count'] : ['']) {
      found.set(name + suffix, documented(name))
    }
  }
  for (const [, name = '', labels = ''] of text.matchAll(/^(\w+)\{(.*)\} /gm)) {
    for (const [, label = ''] of labels.matchAll(/(\w+)="/g)) found.get(name)?.add(label)
  }
  return found
}

/** The labels that docs/observe.md names: some metrics have series only where there is Redis, or an upstream server. */
function documented (name: string): Set<string> {
  const page = readFileSync(new URL('docs/observe.md', ROOT), 'utf8')
  const [, labels = ''] = new RegExp(`^\\| \`${name}\` \\| \\w+ \\|([^|]*)\\|`, 'm').exec(page) ?? []
  return new Set(
    Array.from(labels.replaceAll(/:[^|]*?(?=, `\w+`:|$)/g, '').matchAll(/`(\w+)`/g), ([, label = '']) => label)
  )
}

const metricsOf = (expr: string): string[] =>
  Array.from(expr.matchAll(/\b(up|(?:patchbay|mcp|nodejs|process)_\w+)\b(?!!?=|!~|\(|")/g), ([, name = '']) => name)
const labelsOf = (expr: string): string[] => [
  ...Array.from(expr.matchAll(/\{([^}]*)\}/g), ([, inside = '']) =>
    Array.from(inside.matchAll(/(\w+)\s*(?:=~|!~|!=|=)/g), ([, label = '']) => label)
  ).flat(),
  ...Array.from(expr.matchAll(/\bby \(([^)]*)\)/g), ([, inside = '']) =>
    inside.split(',').map(label => label.trim())
  ).flat()
]

t.test('each expression of the dashboard and the alerts names metrics and labels that the gateway serves', async t => {
  const { url } = await listening(t, { metrics: true })
  const session = await openSession(url)
  await session.post({ id: 1, method: 'tools/call', params: { name: 'echo', arguments: { text: 'a' } } })
  await session.end()
  const metrics = await served(url)
  t.ok(expressions.length > 50)
  for (const [where, expr] of expressions) {
    const names = metricsOf(expr).filter(name => !ADDED.includes(name))
    if (names.length === 0) t.fail(`${where} names no metric: ${expr}`)
    t.strictSame(names.filter(name => !metrics.has(name)), [], `${where}: metrics of ${expr}`)
    const known = [...ADDED, ...names.flatMap(name => [...metrics.get(name) ?? []])]
    t.strictSame(labelsOf(expr).filter(label => !known.includes(label)), [], `${where}: labels of ${expr}`)
  }
  t.strictSame(['patchbay_unknown'].filter(name => metrics.has(name)), [], 'what is not served is not known')
})

t.test('the dashboard asks for its data source, has all rows, and no panel covers another', async t => {
  t.match(dashboard.templating.list[0], { name: 'datasource', type: 'datasource' })
  t.strictSame(
    dashboard.panels.filter(({ type }) => type === 'row').map(({ title }) => title),
    [
      'Rate, errors, duration',
      'Sessions and streams',
      'Refusals',
      'Questions',
      'Store',
      'Nodes',
      'Upstreams',
      'Process'
    ]
  )
  for (const { title, type, datasource } of dashboard.panels) {
    if (type !== 'row') t.match(datasource, { uid: `\${${'datasource'}}` }, title)
  }
  const cells = dashboard.panels.flatMap(({ gridPos: { x, y, w, h } }) =>
    Array.from({ length: w * h }, (_, index) => `${x + (index % w)} ${y + Math.floor(index / w)}`)
  )
  t.equal(new Set(cells).size, cells.length)
})

t.test('each alert says what happened and what to do, and has its row on the page', async t => {
  const page = readFileSync(new URL('docs/observe.md', ROOT), 'utf8')
  for (const { alert, annotations } of groups.flatMap(({ rules }) => rules)) {
    t.match(annotations, { summary: /\w/, description: /\w/ }, alert)
    t.ok(page.includes(`| \`${alert}\` |`), `${alert} in docs/observe.md`)
  }
})
