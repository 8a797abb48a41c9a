import type { FastifyBaseLogger } from 'fastify'
import { canonicalName } from '../../../protocol/definitions/common-members.js'
import type { Call } from '../../../protocol/dispatch/call.js'
import { KEPT, mergeResultOptions, type ResultOptions } from '../../../protocol/definitions/result-options.js'
import type { Tool } from '../../../protocol/definitions/tool.js'
import { text, type ContentBlock, type TextBlock } from '../../../protocol/wire/content.js'
import { isObject } from '../../../protocol/wire/json.js'
import { headAndTail } from './head-and-tail.js'
import { RESULT_URI, type Kept, type KeptResults } from './kept-results.js'
import { loadProjections } from './projections.js'
import { READ_RESULT } from './read-result.js'

type Result = Record<string, unknown>
/** A result with content, of which nothing else is known. */
interface ContentResult extends Result { content: ContentBlock[] }
type Log = Pick<FastifyBaseLogger, 'warn' | 'debug'>
type Sized = ResultOptions & { readonly max: number }

/** Projects and shortens the results of tools that have options for them. A result is never lost by it. */
export class ResultFinisher {
  readonly #kept: KeptResults
  readonly #log: Log
  readonly #isListed: (view: string | undefined) => boolean
  /** The tools whose failures were logged. */
  readonly #logged = new WeakSet<Tool>()

  /** `isListed` tells if clients of a view have our tool by which results are read. */
  constructor (kept: KeptResults, log: Log, isListed: (view: string | undefined) => boolean) {
    this.#kept = kept
    this.#log = log
    this.#isListed = isListed
  }

  /** The result that the client gets. Errors and questions are not touched. */
  async finish (result: Result, tool: Tool, call: Call): Promise<Result> {
    const options = mergeResultOptions(tool.results ?? {})
    if (!hasContent(result) || call.response.isClosed) return result
    const selected = options.select === undefined ? result : await this.#select(result, options.select, tool)
    const { max } = options
    return max === undefined ? selected : await this.#shorten(selected, { ...options, max }, tool, call)
  }

  async #select (result: ContentResult, expression: string, tool: Tool): Promise<ContentResult> {
    const json = jsonOf(result)
    if (json === undefined) return result
    const projected = (await loadProjections()).project(expression, json)
    if (projected === undefined) return result
    if ('why' in projected) {
      this.#report(tool, `the whole result was sent, because results.select gave none: ${projected.why}`)
      return result
    }
    return {
      ...result,
      content: withText(result.content, projected.json),
      ...(result.structuredContent !== undefined && { structuredContent: JSON.parse(projected.json) as unknown })
    }
  }

  async #shorten (result: ContentResult, options: Sized, tool: Tool, call: Call): Promise<Result> {
    const { structuredContent, ...rest } = result
    const structured = structuredContent === undefined ? undefined : JSON.stringify(structuredContent)
    const shown = textOf(result.content) ?? structured ?? ''
    const isLarge = structured !== undefined && structured.length > options.max
    if (shown.length <= options.max && !isLarge) return result
    const keep = async (whole: string, mimeType: string): Promise<Kept | string> =>
      await this.#keep(whole, mimeType, options, tool, call)
    const [sentences, links]: [string[], ContentBlock[]] = [[], []]
    const note = (what: string, length: number, kept: Kept | string): void => {
      sentences.push(sentenceAbout(what, length, kept, options.max, this.#isListed(call.peer.view)))
      if (typeof kept !== 'string') links.push(linkTo(kept, `${what} of ${tool.name}`))
    }
    if (shown.length > options.max) {
      const kept = await keep(shown, shown === structured ? 'application/json' : 'text/plain')
      note('Whole result', shown.length, kept)
    }
    if (isLarge && (shown.length <= options.max || !isSameJson(shown, structured))) {
      note('Structured content', structured.length, await keep(structured, 'application/json'))
    }
    return {
      ...rest,
      content: [...withText(result.content, shorten(shown, options.max, sentences.join('\n'))), ...links],
      ...(structuredContent !== undefined && !isLarge && { structuredContent })
    }
  }

  async #keep (
    whole: string,
    mimeType: string,
    { max, keep = KEPT }: Sized,
    tool: Tool,
    call: Call
  ): Promise<Kept | string> {
    const { principal, target, peer: { view } } = call
    const result = { text: whole, mimeType, scopes: target?.scopes ?? [], view, part: max, keep }
    try {
      return await this.#kept.add(principal, result)
    } catch (error) {
      this.#report(tool, `a long result was not kept: ${error instanceof Error ? error.message : String(error)}`)
      return 'it could not be stored'
    }
  }

  /** Logs the first failure of a tool for operators, and further ones for those who look closely. */
  #report (tool: Tool, what: string): void {
    const name = canonicalName(tool)
    this.#log[this.#logged.has(tool) ? 'debug' : 'warn']({ tool: name }, `tool ${name}: ${what}`)
    this.#logged.add(tool)
  }
}

function hasContent (result: Result): result is ContentResult {
  const { content, isError, resultType } = result
  return isError !== true && (resultType === undefined || resultType === 'complete') &&
    Array.isArray(content) && content.every(isObject)
}

const isText = (block: ContentBlock): block is TextBlock => block.type === 'text' && typeof block.text === 'string'

/** All text blocks, one on each line; undefined where there are none. */
function textOf (content: readonly ContentBlock[]): string | undefined {
  const texts = content.filter(isText).map(({ text }) => text)
  return texts.length === 0 ? undefined : texts.join('\n')
}

/** The JSON of a result: its structured content, or its text where that may be one JSON text. */
function jsonOf ({ content, structuredContent }: ContentResult): string | undefined {
  if (structuredContent !== undefined) return JSON.stringify(structuredContent)
  const [only, ...others] = content.filter(isText)
  return only !== undefined && others.length === 0 && /^\s*[[{]/.test(only.text) ? only.text : undefined
}

/** The content with this text in the place of its first text block, and without the other text blocks. */
function withText (content: readonly ContentBlock[], value: string): ContentBlock[] {
  const first = content.find(isText)
  if (first === undefined) return [text(value), ...content]
  return content
    .filter(block => block === first || !isText(block))
    .map(block => block === first ? { ...first, text: value } : block)
}

/** A text of at most `max` characters and a few sentences, which stand where something is left out. */
function shorten (whole: string, max: number, sentences: string): string {
  if (whole.length <= max) return [whole, sentences].filter(part => part !== '').join('\n\n')
  const { head, tail } = headAndTail(whole, Math.max(max - sentences.length - 4, 0))
  return `${head}\n\n${sentences}\n\n${tail}`
}

function sentenceAbout (
  what: string,
  length: number,
  kept: Kept | string,
  part: number,
  hasTool: boolean
): string {
  const about = `[${what}: ${length} characters, of which some are left out here`
  if (typeof kept === 'string') return `${about} and not kept, because ${kept}]`
  const uri = uriOf(kept.id)
  const until = new Date(kept.expires).toISOString()
  const ways = [
    `all at ${uri}`,
    `a part at ${uri}?offset=0&length=${part}`,
    ...(hasTool ? [`with the tool ${READ_RESULT} and {"id":"${kept.id}","offset":0}`] : [])
  ]
  return `${about}; until ${until} read ${ways.slice(0, -1).join(', ')}, or ${ways.at(-1) ?? ''}]`
}

function linkTo ({ id, bytes, expires }: Kept, name: string): ContentBlock {
  const description = `Kept until ${new Date(expires).toISOString()}; parts are read with ?offset=0&length=10000`
  return { type: 'resource_link', uri: uriOf(id), name, description, size: bytes }
}

/** True for a text that is the JSON, however it is spaced. */
function isSameJson (shown: string, json: string): boolean {
  if (shown === json) return true
  try {
    return JSON.stringify(JSON.parse(shown)) === json
  } catch {
    return false
  }
}

const uriOf = (id: string): string => `${RESULT_URI}${id}`
