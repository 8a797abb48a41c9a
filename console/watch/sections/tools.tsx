import { useComputed, useSignal, type Signal } from '@preact/signals'
import { ServerText } from '../../parts/server-text.js'
import { duration } from '../../parts/words.js'
import type { ToolStats } from '../../client/watch-batch.js'
import { nextOrder, sortTools, type Column, type Order } from '../rows.js'
import { count, counted, errorRate, windowWords } from '../words.js'
import { Scroll, Section, useFirstRows, type SectionProps } from './section.js'

const COLUMNS: Array<[Column, string]> = [
  ['name', 'Tool'],
  ['calls', 'Calls'],
  ['errors', 'Errors'],
  ['p50', 'p50'],
  ['p95', 'p95'],
  ['p99', 'p99']
]

/** How often tools were called in the last five minutes, how often that failed, and how long it took. */
export function ToolsSection ({ feed, now }: SectionProps) {
  const since = useComputed(() => windowWords(feed.gateway.value, now.value)).value
  const order = useSignal<Order>({ column: 'calls', descending: true })
  const sorted = useComputed(() => sortTools(feed.tools.value, order.value))
  const { first, button } = useFirstRows(sorted.value)
  return (
    <Section title='Tools' aside={`${counted(sorted.value.length, 'tool')}, ${since.short}`}>
      {sorted.value.length === 0
        ? (
          <p class='quiet'>No tool was called {since.sentence}.</p>
          )
        : (
          <Scroll label='Table of tools'>
            <table class='watch-table'>
              <thead>
                <tr>
                  {COLUMNS.map(([column, title]) => (
                    <Heading key={column} column={column} title={title} order={order} />
                  ))}
                </tr>
              </thead>
              <tbody>
                {first.map(tool => (
                  <Row key={tool.name} tool={tool} />
                ))}
              </tbody>
            </table>
            {button}
          </Scroll>
          )}
    </Section>
  )
}

function Heading ({ column, title, order }: { column: Column, title: string, order: Signal<Order> }) {
  const { column: by, descending } = order.value
  const mark = by !== column ? '' : descending ? ' ▾' : ' ▴'
  return (
    <th
      scope='col'
      class={column === 'name' ? undefined : 'watch-number'}
      {...(by === column ? { 'aria-sort': descending ? ('descending' as const) : ('ascending' as const) } : {})}
    >
      <button
        type='button'
        class='plain'
        onClick={() => {
          order.value = nextOrder(order.value, column)
        }}
      >
        {title}
        <span aria-hidden='true'>{mark}</span>
      </button>
    </th>
  )
}

function Row ({ tool }: { tool: ToolStats }) {
  return (
    <tr>
      <th scope='row'>
        <ServerText text={tool.name} />
      </th>
      <td class='watch-number'>{count(tool.calls)}</td>
      <td class={tool.errors > 0 ? 'watch-number error' : 'watch-number'}>
        {tool.errors === 0 ? '0' : `${count(tool.errors)} (${errorRate(tool)})`}
      </td>
      {[tool.p50, tool.p95, tool.p99].map((ms, index) => (
        <td key={index} class='watch-number'>
          {duration(ms)}
        </td>
      ))}
    </tr>
  )
}
