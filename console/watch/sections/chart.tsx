import { useSignal } from '@preact/signals'
import { useEffect, useId, useRef } from 'preact/hooks'
import { extremes, linearAxis, linePath, logAxis, markWords, timeMarks } from '../chart-shape.js'
import { clock } from '../words.js'

interface Line { name: string, values: ReadonlyArray<number | undefined> }

interface ChartProps {
  title: string
  /** One value for each second; the last is that of the second before `end`. */
  lines: Line[]
  /** In milliseconds since the epoch. */
  end: number
  words: (value: number) => string
  /** The words where a line has no value. */
  none: string
  /** True when each mark of the axis is ten times the one before. */
  log?: boolean
}

const HEIGHT = 160
const LEFT = 56
const RIGHT = 8
const TOP = 8
const BOTTOM = 22

/**
 * Lines over time with an axis, their last values in words and a table of all values. Lines differ in lightness and in
 * their dashes.
 */
export function Chart ({ title, lines, end, words, none, log = false }: ChartProps) {
  const id = useId()
  const last = lines.map(({ name, values }) => ({ name, text: wordsOf(values.at(-1), words, none) }))
  return (
    <figure class='card watch-chart' aria-labelledby={id}>
      <h2 id={id}>{title}</h2>
      <ul class='watch-legend small'>
        {last.map(({ name, text }, index) => (
          <li key={name}>
            <svg width='28' height='10' aria-hidden='true'>
              <path class={`watch-line watch-line-${index + 1}`} d='M1 5H27' />
            </svg>{' '}
            {name} <strong>{text}</strong>
          </li>
        ))}
      </ul>
      <Drawing
        label={`${title}: ${last.map(({ name, text }) => `${name} ${text}`).join(', ')}`}
        lines={lines}
        words={words}
        log={log}
      />
      <Values title={title} lines={lines} end={end} words={words} none={none} />
    </figure>
  )
}

function Drawing ({ label, lines, words, log }: Pick<ChartProps, 'lines' | 'words'> & { label: string, log: boolean }) {
  const { element, width } = useWidth()
  const box = { width: Math.max(0, width - LEFT - RIGHT), height: HEIGHT - TOP - BOTTOM }
  const { min, max } = extremes(lines.map(line => line.values))
  const { marks, heightOf } = log ? logAxis(min, max) : linearAxis(max)
  const seconds = lines[0]?.values.length ?? 0
  const times = timeMarks(seconds)
  return (
    <div ref={element} class='watch-drawing'>
      <svg role='img' aria-label={label} width={width} height={HEIGHT}>
        <g transform={`translate(${LEFT} ${TOP})`}>
          {marks.map(mark => {
            const y = box.height - heightOf(mark) * box.height
            return (
              <g key={mark}>
                <path class='watch-grid' d={`M0 ${y}H${box.width}`} />
                <text x='-8' y={y} dominant-baseline='middle' text-anchor='end'>
                  {words(mark)}
                </text>
              </g>
            )
          })}
          {times.map((ago, index) => (
            <text
              key={ago}
              x={box.width - (ago / Math.max(1, seconds)) * box.width}
              y={box.height + 16}
              text-anchor={index === 0 ? 'start' : ago === 0 ? 'end' : 'middle'}
            >
              {markWords(ago)}
            </text>
          ))}
          {lines.map(({ name, values }, index) => (
            <path key={name} class={`watch-line watch-line-${index + 1}`} d={linePath(values, heightOf, box)} />
          ))}
        </g>
      </svg>
    </div>
  )
}

/** The table is made when it is opened and then stays as it is, so that it can be read. */
function Values ({ title, lines, end, words, none }: ChartProps) {
  const taken = useSignal<{ lines: Line[], end: number } | undefined>(undefined)
  const toggle = (event: Event): void => {
    taken.value = (event.currentTarget as HTMLDetailsElement).open ? { lines, end } : undefined
  }
  return (
    <details onToggle={toggle}>
      <summary class='small'>Values as a table</summary>
      {taken.value === undefined ? null : <ValuesTable title={title} words={words} none={none} {...taken.value} />}
    </details>
  )
}

function ValuesTable ({ title, lines, end, words, none }: ChartProps) {
  const length = lines[0]?.values.length ?? 0
  return (
    <div class='watch-scroll' role='region' aria-label={`Values: ${title}`} tabIndex={0}>
      <table>
        <caption class='quiet small'>Each second up to {clock(end)}. Close and open this for newer values.</caption>
        <thead>
          <tr>
            <th scope='col'>Time</th>
            {lines.map(({ name }) => (
              <th key={name} scope='col'>
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {Array.from({ length }, (_, index) => length - 1 - index).map(index => (
            <tr key={index}>
              <th scope='row'>{clock(end - (length - index) * 1000)}</th>
              {lines.map(({ name, values }) => (
                <td key={name}>{wordsOf(values[index], words, none)}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}

const wordsOf = (value: number | undefined, words: ChartProps['words'], none: string): string =>
  value === undefined ? none : words(value)

/** The width of an element in pixels, as it is now. */
function useWidth () {
  const element = useRef<HTMLDivElement>(null)
  const width = useSignal(0)
  useEffect(() => {
    if (element.current === null) return
    const observer = new ResizeObserver(entries => { width.value = Math.floor(entries[0]?.contentRect.width ?? 0) })
    observer.observe(element.current)
    return () => observer.disconnect()
  }, [])
  return { element, width: width.value }
}
