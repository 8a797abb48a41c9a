import { didYouMean } from '../../../lib/nearest-name.js'
import { segment } from '../../schema/mistakes.js'
import { errors, isMcpError, type McpError, type Mistake } from '../../wire/errors.js'
import { isObject } from '../../wire/json.js'
import type { Params } from '../../wire/jsonrpc.js'
import type { ToolOverride } from './override.js'

/** The differences between the arguments of a tool and those that its callers have, by the names of the tool. */
export interface ArgumentChanges {
  /** The names that callers know. */
  readonly renamed: ReadonlyMap<string, string>
  /** Values that are always sent; callers do not see these arguments. */
  readonly fixed: ReadonlyMap<string, unknown>
  /** Values that are sent if callers send none. */
  readonly defaults: ReadonlyMap<string, unknown>
  readonly descriptions: ReadonlyMap<string, string>
  /** True for those that callers have to send, false for those that they need not send; the tool decides on others. */
  readonly required: ReadonlyMap<string, boolean>
}

/** The `data.code` of errors about arguments. */
const WRONG = 'PATCHBAY_WRONG_ARGUMENTS'

/** Reads what an override says of arguments, for looking it up. A rename to the own name is none. */
export function changesOf (args: NonNullable<ToolOverride['arguments']>): ArgumentChanges {
  const all = Object.entries(args).filter(([name]) => name !== '__proto__')
  const fixed = new Map(all.filter(([, { value }]) => value !== undefined).map(([name, { value }]) => [name, value]))
  const shown = all.filter(([name]) => !fixed.has(name))
  const pick = <K extends 'name' | 'default' | 'description' | 'required'> (field: K) =>
    new Map(shown.flatMap(([name, { [field]: value }]) => (value === undefined ? [] : [[name, value] as const])))
  return {
    fixed,
    renamed: new Map([...pick('name')].filter(([name, other]) => name !== other)) as Map<string, string>,
    defaults: pick('default'),
    descriptions: pick('description') as Map<string, string>,
    required: pick('required') as Map<string, boolean>
  }
}

/** The changes without renames to names that other arguments have, and sentences about these. */
export function withoutClashes (
  changes: ArgumentChanges,
  names: ReadonlySet<string>
): { changes: ArgumentChanges, problems: string[] } {
  const { renamed: wanted, fixed } = changes
  const renamed = new Map(wanted)
  const problems: string[] = []
  const usersOf = (name: string): number =>
    (names.has(name) && !renamed.has(name) && !fixed.has(name) ? 1 : 0) +
    [...renamed.values()].filter(other => other === name).length
  for (let isSettled = false; !isSettled;) {
    const clashing = [...renamed].filter(([, name]) => usersOf(name) > 1)
    for (const [own, name] of clashing) {
      renamed.delete(own)
      problems.push(`the argument "${own}" keeps its name, because another one would be called "${name}", too`)
    }
    isSettled = clashing.length === 0
  }
  return { changes: { ...changes, renamed }, problems }
}

/** Takes the arguments of callers back to those of a tool. */
export class ArgumentMap {
  readonly #changes: ArgumentChanges
  /** The names of the tool, by those of callers that are others. */
  readonly #own: ReadonlyMap<string, string>
  /** The names that callers have to send. */
  readonly #needed: readonly string[]

  constructor (changes: ArgumentChanges) {
    const { renamed, required, defaults } = changes
    this.#changes = changes
    this.#own = new Map([...renamed].map(([own, name]) => [name, own]))
    this.#needed = [...required]
      .filter(([name, is]) => is && !defaults.has(name))
      .map(([name]) => renamed.get(name) ?? name)
  }

  /**
   * The arguments as the tool knows them, with those that are set for it: fixed values, or `inPlace` of each. Throws
   * for arguments that callers do not have, and where one is missing that they have to send.
   */
  toOwn (given: Params, inPlace?: unknown): Params {
    const { fixed, defaults } = this.#changes
    const own: Params = {}
    for (const name in given) own[this.#ownNameOf(name)] = given[name]
    for (const name of this.#needed) {
      if (!Object.hasOwn(given, name)) throw wrong(name, `the argument "${name}" is missing`)
    }
    for (const [name, value] of defaults) if (!Object.hasOwn(own, name)) own[name] = structuredClone(value)
    for (const [name, value] of fixed) own[name] = inPlace ?? structuredClone(value)
    return own
  }

  /** An error about arguments with the names that callers know in `data.errors`; any other error as it is. */
  toCallers (error: unknown): unknown {
    if (!isMcpError(error) || !isObject(error.data)) return error
    const { code, details, errors: mistakes } = error.data
    return code === WRONG && typeof details === 'string' && Array.isArray(mistakes)
      ? errors.wrongArguments(details, this.#mistakes(mistakes))
      : error
  }

  #ownNameOf (name: string): string {
    const own = this.#own.get(name)
    if (own !== undefined) return own
    if (this.#changes.fixed.has(name)) throw errors.fixedArgument(name)
    const other = this.#changes.renamed.get(name)
    if (other !== undefined) throw wrong(name, `there is no argument "${name}"${didYouMean(other, [other])}`)
    return name
  }

  #mistakes (mistakes: unknown[]): Mistake[] {
    return mistakes.filter(isObject).map(mistake => {
      const [, first = '', ...rest] = String(mistake.path).split('/')
      const name = this.#changes.renamed.get(first)
      const path = name === undefined ? String(mistake.path) : [segment(name), ...rest].join('/')
      return { ...mistake, path, message: String(mistake.message) }
    })
  }
}

const wrong = (name: string, sentence: string): McpError =>
  errors.wrongArguments(sentence, [{ path: segment(name), message: sentence }])
