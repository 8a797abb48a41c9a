/**
 * One value of a metric; `suffix` follows the name of the metric, `labels` are in the form of the text formats, without
 * braces.
 */
export interface Sample {
  readonly suffix: string
  readonly labels: string
  readonly value: number
  readonly exemplar?: Exemplar | undefined
}

/** A value that was observed, and the trace in which it was. */
export interface Exemplar {
  readonly traceId: string
  readonly value: number
  /** In seconds since 1970. */
  readonly at: number
}

/** A metric and all its series. */
export interface Metric {
  readonly name: string
  readonly help: string
  readonly type: 'counter' | 'gauge' | 'histogram'
  samples (): Iterable<Sample>
}

type LabelValues = ReadonlyArray<string | undefined>

/** The series whose labels begin with the same values. */
class Branch<S> {
  readonly branches = new Map<string | undefined, Branch<S>>()
  series: S | undefined
}

/** The series of one metric by their labels, whose text is made once. */
class SeriesByLabels<S> {
  readonly #names: readonly string[]
  readonly #create: (labels: string) => S
  readonly #root = new Branch<S>()
  readonly #all: S[] = []

  constructor (names: readonly string[], create: (labels: string) => S) {
    this.#names = names
    this.#create = create
  }

  get (values: LabelValues): S {
    let branch = this.#root
    for (let index = 0; index < this.#names.length; index++) {
      let next = branch.branches.get(values[index])
      if (next === undefined) branch.branches.set(values[index], next = new Branch())
      branch = next
    }
    if (branch.series === undefined) this.#all.push(branch.series = this.#create(formatLabels(this.#names, values)))
    return branch.series
  }

  values (): Iterable<S> {
    return this.#all
  }
}

/** A series that only grows. */
export class CounterSeries implements Sample {
  readonly suffix = ''
  value = 0

  constructor (readonly labels: string) {}

  add (by = 1): void {
    this.value += by
  }
}

export class Counter implements Metric {
  readonly type = 'counter'
  readonly #series: SeriesByLabels<CounterSeries>

  constructor (readonly name: string, readonly help: string, labels: readonly string[] = []) {
    this.#series = new SeriesByLabels(labels, text => new CounterSeries(text))
  }

  /** The series with these values, in the order of the labels; a label whose value is undefined is absent. */
  with (...values: LabelValues): CounterSeries {
    return this.#series.get(values)
  }

  samples (): Iterable<Sample> {
    return this.#series.values()
  }
}

/** How many of the observed values are at most as large as each bound. */
export class HistogramSeries {
  readonly #labels: string
  readonly #bounds: readonly number[]
  readonly #counts: Float64Array
  #sum = 0
  /** The latest of each bucket. */
  #exemplars: Exemplar[] | undefined

  constructor (labels: string, bounds: readonly number[]) {
    this.#labels = labels
    this.#bounds = bounds
    this.#counts = new Float64Array(bounds.length + 1)
  }

  /** `traceId` is that of a recorded trace, if there is one. */
  observe (value: number, traceId?: string): void {
    let index = 0
    while (index < this.#bounds.length && value > (this.#bounds[index] as number)) index++
    this.#counts[index] = (this.#counts[index] as number) + 1
    this.#sum += value
    if (traceId !== undefined) (this.#exemplars ??= [])[index] = { traceId, value, at: Date.now() / 1_000 }
  }

  * samples (): Iterable<Sample> {
    const prefix = this.#labels === '' ? '' : `${this.#labels},`
    let count = 0
    for (const [index, own] of this.#counts.entries()) {
      count += own
      yield { suffix: '_bucket', labels: `${prefix}le="${this.#bounds[index] ?? '+Inf'}"`, value: count, exemplar: this.#exemplars?.[index] }
    }
    yield { suffix: '_sum', labels: this.#labels, value: this.#sum }
    yield { suffix: '_count', labels: this.#labels, value: count }
  }
}

export class Histogram implements Metric {
  readonly type = 'histogram'
  readonly #series: SeriesByLabels<HistogramSeries>

  constructor (readonly name: string, readonly help: string, labels: readonly string[], bounds: readonly number[]) {
    this.#series = new SeriesByLabels(labels, text => new HistogramSeries(text, bounds))
  }

  with (...values: LabelValues): HistogramSeries {
    return this.#series.get(values)
  }

  * samples (): Iterable<Sample> {
    for (const series of this.#series.values()) yield * series.samples()
  }
}

/** A metric whose values are read when it is asked for. */
export function gauge (
  name: string,
  help: string,
  labels: readonly string[],
  read: () => Iterable<readonly [number, ...Array<string | undefined>]>
): Metric {
  return {
    name,
    help,
    type: 'gauge',
    samples: () =>
      [...read()].map(([value, ...values]) => ({ suffix: '', labels: formatLabels(labels, values), value }))
  }
}

/** `a="1",b="2"`, without those that are undefined. */
export function formatLabels (names: readonly string[], values: LabelValues): string {
  return names
    .flatMap((name, index) => (values[index] === undefined ? [] : [`${name}="${escape(values[index])}"`]))
    .join(',')
}

const escape = (text: string): string =>
  /[\\"\n]/.test(text) ? text.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n') : text
