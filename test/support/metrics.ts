import { spawnSync } from 'node:child_process'
import type { FastifyInstance } from 'fastify'

/** Values of `/metrics` by series: `name{a="1",b="2"}`. */
export type Series = Map<string, number>

/** Reads `/metrics` of a gateway without callers that authenticate. */
export async function scrape (app: FastifyInstance, url = '/metrics'): Promise<Series> {
  const { statusCode, body } = await app.inject({ url })
  if (statusCode !== 200) throw new Error(`${url} is answered ${statusCode}: ${body}`)
  return seriesOf(body)
}

export function seriesOf (text: string): Series {
  const lines = text.split('\n').filter(line => line !== '' && !line.startsWith('#'))
  return new Map(lines.map(line => {
    const end = line.lastIndexOf(' ')
    return [line.slice(0, end), Number(line.slice(end + 1))]
  }))
}

/** The sum of all series of that name with these labels. */
export function sum (series: Series, name: string, labels: Record<string, string> = {}): number {
  const wanted = Object.entries(labels).map(([label, value]) => `${label}="${value}"`)
  const found = [...series].filter(([key]) => {
    const [of, text = ''] = key.split('{', 2)
    return (
      of === name &&
      wanted.every(label => new RegExp(`(^|,)${label.replace(/[.*+?^${}()|[\]\\/]/g, '\\$&')}[,}]`).test(text))
    )
  })
  return found.reduce((total, [, value]) => total + value, 0)
}

/** Runs `promtool check metrics` on a text; undefined where there is no promtool. */
export function promtool (text: string): { status: number | null, said: string } | undefined {
  const { error, status, stdout, stderr } = spawnSync('promtool', ['check', 'metrics'], {
    input: text,
    encoding: 'utf8'
  })
  return error === undefined ? { status, said: stdout + stderr } : undefined
}
