import { createRequire } from 'node:module'
import { join } from 'node:path'
import type { Finding } from './measure/goal.js'
import { short, type Spread } from './measure/statistics.js'
import { PACKAGES } from './servers/catalogue.js'

interface Chart { setOption: (option: object) => void, renderToSVGString: () => string, dispose: () => void }
interface ECharts {
  init: (dom: null, theme: null, options: { renderer: 'svg', ssr: true, width: number, height: number }) => Chart
}

/** A bar, or a headline, which has no colour. */
interface Row { label: string, value: number, text: string, colour?: string }

const WIDTH = 860
const ROW = 17
const INK = '#1f2328'
const FAINT = '#57606a'
const OURS = '#1f6feb'
const COLOURS: Record<string, string> = {
  'SDK v2': '#bc4c00',
  'SDK v1': '#d4a72c',
  fastmcp: '#8250df',
  'fastify-mcp': '#1a7f37',
  supergateway: '#bf3989'
}

/** A picture of the rates: bars as multiples of the limit. It brings its own background and no fonts. */
export function plot (findings: Finding[], subtitle: string): string {
  const { init } = createRequire(join(PACKAGES, 'package.json'))('echarts') as ECharts
  const rows = findings
    .filter(({ goal, limit }) => goal?.startsWith('≥') === true && limit.endsWith('/s'))
    .flatMap(rowsOf)
  const chart = init(null, null, { renderer: 'svg', ssr: true, width: WIDTH, height: rows.length * ROW + 114 })
  chart.setOption(option(rows, subtitle))
  const svg = chart.renderToSVGString()
  chart.dispose()
  return `${svg.trim()}\n`
}

function rowsOf ({ what, limit, ours, peers }: Finding): Row[] {
  const bar = (label: string, { median }: Spread, colour: string): Row => ({
    label,
    value: median,
    text: short(median),
    colour
  })
  return [
    { label: `{headline|${what}}`, value: 0, text: `the limit: ${limit}` },
    bar('Patchbay', ours, OURS),
    ...peers.map(({ name, figure }) => bar(name, figure, COLOURS[name] ?? FAINT))
  ]
}

function option (rows: Row[], subtext: string): object {
  return {
    animation: false,
    backgroundColor: '#ffffff',
    textStyle: { fontFamily: 'system-ui, sans-serif', color: INK },
    title: {
      text: 'Calls per second of CPU time, as multiples of the limit',
      subtext,
      left: 16,
      top: 10,
      textStyle: { fontSize: 16, color: INK },
      subtextStyle: { fontSize: 11.5, color: FAINT }
    },
    grid: { left: 290, right: 60, top: 84, bottom: 30 },
    xAxis: {
      type: 'value',
      min: 0,
      max: Math.max(1.2, Math.ceil(5 * Math.max(...rows.map(({ value }) => value))) / 5),
      axisLabel: { color: FAINT },
      splitLine: { lineStyle: { color: '#eaeef2' } }
    },
    yAxis: {
      type: 'category',
      inverse: true,
      data: rows.map(({ label }) => label),
      axisTick: { show: false },
      axisLine: { lineStyle: { color: FAINT } },
      axisLabel: {
        interval: 0,
        color: INK,
        fontSize: 12,
        rich: { headline: { fontSize: 12, fontWeight: 'bold', color: INK } }
      }
    },
    series: [
      {
        type: 'bar',
        barWidth: ROW - 5,
        data: rows.map(({ value, text, colour }) => ({
          value,
          itemStyle: { color: colour },
          label: { formatter: text, color: colour === undefined ? FAINT : INK }
        })),
        label: { show: true, position: 'right', fontSize: 11.5, backgroundColor: '#ffffff', padding: [0, 3] },
        markLine: {
          silent: true,
          z: 1,
          symbol: 'none',
          lineStyle: { color: '#cf222e', width: 1.5, type: 'solid' },
          label: { formatter: 'the limit', color: '#cf222e', position: 'start' },
          data: [{ xAxis: 1 }]
        }
      }
    ]
  }
}
