import { createContext, Script } from 'node:vm'
import { didYouMean } from '../../../lib/nearest-name.js'
import { isObject } from '../../../protocol/wire/json.js'
import { processorTime } from '../../../system/process/usage.js'

type JmesPath = typeof import('@jmespath-community/jmespath')
type Compiled = ReturnType<JmesPath['compile']>

/** How long one projection may take, in milliseconds: all other calls wait meanwhile. */
const TIME = 50
/** How often one is begun on a machine that gives its time to other processes. */
const TRIES = 4
/** How many times as long as the JSON its projection may be, besides a few characters. */
const GROWTH = 4
const ROOM = 65_536
/** Functions that make a text as long as a number in the result says. */
const FORBIDDEN = ['pad_left', 'pad_right']

/** Evaluates JMESPath expressions, in a bounded time and to a bounded length, whatever the JSON is. */
export class Projections {
  readonly #library: JmesPath
  readonly #compiled = new Map<string, Compiled>()
  // V8 ends what a script calls after the time that is given for it, also where that is a function of this context.
  readonly #sandbox: { run?: () => string | undefined } = {}
  readonly #context = createContext(this.#sandbox)
  readonly #script = new Script('run()')

  constructor (library: JmesPath) {
    this.#library = library
  }

  /** Says what is wrong with an expression; undefined for a good one. */
  explain (expression: string): string | undefined {
    try {
      const functions = functionsIn(this.#compile(expression))
      const unknown = functions.find(name => !this.#library.isRegistered(name))
      if (unknown !== undefined) {
        return `it has no function "${unknown}"${didYouMean(unknown, this.#library.getRegisteredFunctions())}`
      }
      const forbidden = functions.find(name => FORBIDDEN.includes(name))
      return forbidden === undefined ? undefined : `the function "${forbidden}" is not served here`
    } catch (error) {
      return error instanceof Error ? error.message : String(error)
    }
  }

  /** The value of an expression for a JSON text, as JSON, or why it has none; undefined for a text that is not JSON. */
  project (expression: string, json: string): { json: string } | { why: string } | undefined {
    const compiled = this.#compile(expression)
    const { TreeInterpreter: interpreter } = this.#library
    this.#sandbox.run = () =>
      JSON.stringify(interpreter.search(compiled, JSON.parse(json) as Parameters<typeof interpreter.search>[1]))
    try {
      const projected = this.#run()
      if (projected === undefined || projected === 'null') return { why: 'it has no value there' }
      const isTooLong = projected.length > GROWTH * json.length + ROOM
      return isTooLong ? { why: 'its value is many times as long as the result' } : { json: projected }
    } catch (error) {
      return error instanceof SyntaxError ? undefined : { why: reasonOf(error) }
    } finally {
      // The interpreter holds the value that it was given last.
      interpreter.search(this.#compile('@'), null)
      delete this.#sandbox.run
    }
  }

  /** Begins again where the time was over before this process had half of it. */
  #run (): string | undefined {
    for (let tries = 1; ; tries++) {
      const before = processorTime()
      try {
        return this.#script.runInContext(this.#context, { timeout: TIME }) as string | undefined
      } catch (error) {
        if (!isTimeout(error) || tries === TRIES || processorTime() - before > TIME / 2) throw error
      }
    }
  }

  #compile (expression: string): Compiled {
    const known = this.#compiled.get(expression)
    if (known !== undefined) return known
    const compiled = this.#library.compile(expression)
    this.#compiled.set(expression, compiled)
    return compiled
  }
}

let loading: Promise<Projections> | undefined

/** Loads the library with the first expression. */
export async function loadProjections (): Promise<Projections> {
  loading ??= import('@jmespath-community/jmespath').then(library => new Projections(library))
  return await loading
}

/** The kind of an error alone: the text of one of the library may have parts of the result. */
function reasonOf (error: unknown): string {
  return isTimeout(error) ? `it took longer than ${TIME} ms` : (Object(error) as { name?: string }).name ?? 'Error'
}

const isTimeout = (error: unknown): boolean =>
  (Object(error) as { code?: unknown }).code === 'ERR_SCRIPT_EXECUTION_TIMEOUT'

/** The names of the functions that a compiled expression calls. */
function functionsIn (node: unknown): string[] {
  if (Array.isArray(node)) return node.flatMap(functionsIn)
  if (!isObject(node)) return []
  const own = node.type === 'Function' && typeof node.name === 'string' ? [node.name] : []
  return [...own, ...Object.values(node).flatMap(functionsIn)]
}
