export type Row = Record<string, string | number>

/** Figures of a scenario, and the promises that were broken. */
export class Report {
  readonly title: string
  readonly rows: Row[] = []
  readonly notes: string[] = []
  readonly broken: string[] = []
  readonly #say: (line: string) => void

  constructor (title: string, say: (line: string) => void = () => {}) {
    this.title = title
    this.#say = say
    say(title)
  }

  row (row: Row): void {
    this.rows.push(row)
    this.#say(`  ${Object.entries(row).map(([name, value]) => `${name} ${inWords(value)}`).join(', ')}`)
  }

  note (text: string): void {
    this.notes.push(text)
  }

  /** A promise, in words that are true when it is kept. */
  promise (kept: boolean, words: string): void {
    if (!kept) this.broken.push(words)
  }

  toString (): string {
    const verdict = this.broken.length === 0 ? ['kept: every promise'] : this.broken.map(words => `BROKEN: ${words}`)
    return ['', `== ${this.title}`, ...table(this.rows), ...this.notes, ...verdict, ''].join('\n')
  }
}

export interface Setting {
  /** Files of further plugins for the gateway. */
  plugins?: string[]
  env?: Record<string, string>
  /** Receives lines about the progress. */
  say?: (line: string) => void
}

/** A program that drives a gateway; the options are numbers. */
export interface Scenario<Options extends Record<string, number> = Record<string, number>> {
  defaults: Options
  run (options: Options, setting?: Setting): Promise<Report>
}

function table (rows: Row[]): string[] {
  const names = [...new Set(rows.flatMap(row => Object.keys(row)))]
  const lines = [names, ...rows.map(row => names.map(name => inWords(row[name])))]
  const widths = names.map((_, column) => Math.max(...lines.map(line => line[column]?.length ?? 0)))
  return lines.map(line =>
    line
      .map((cell, column) => (column === 0 ? cell.padEnd(widths[column] ?? 0) : cell.padStart(widths[column] ?? 0)))
      .join('  ')
  )
}

function inWords (value: string | number | undefined): string {
  if (typeof value !== 'number') return value ?? ''
  return value.toLocaleString('en', { maximumFractionDigits: Math.abs(value) < 10 && !Number.isInteger(value) ? 2 : 0 })
}
