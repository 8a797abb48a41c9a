import { readdirSync, readFileSync } from 'node:fs'

export const ROOT = new URL('../../../', import.meta.url)

/** A block of code on a page. */
export interface Block {
  page: string
  /** The line of its first line of code. */
  line: number
  language: string
  code: string
  /** Why it cannot be run, from `<!-- not run: … -->`. */
  notRun?: string
  /** The name under which the reader stores it, from `<!-- file: … -->`. */
  file?: string
  /** What it takes for granted, such as imports, from `<!-- given: … -->`. */
  given?: string
  /** The block that follows a `sh` block directly: what it prints. */
  printed?: string
}

/** The pages that readers copy from. */
export function pages (): string[] {
  return [
    'README.md',
    ...readdirSync(new URL('docs', ROOT))
      .filter(name => name.endsWith('.md'))
      .sort()
      .map(name => `docs/${name}`)
  ]
}

/**
 * The blocks of a page, with the marks in the HTML comments before them. Throws if a mark is unknown or has no text.
 */
export function blocksOf (page: string, text = readFileSync(new URL(page, ROOT), 'utf8')): Block[] {
  const fences = [...text.matchAll(/^( *)```(\w*)\n([^]*?)^\1```$/gm)]
  return fences.map(({ 0: whole, 1: indent = '', 2: language = '', 3: code = '', index }, number) => {
    const line = text.slice(0, index).split('\n').length + 1
    const next = fences[number + 1]
    const between = next === undefined ? undefined : text.slice(index + whole.length, next.index)
    return {
      page,
      line,
      language,
      code: code.replaceAll(new RegExp(`^${indent}`, 'gm'), ''),
      ...marks(text.slice(0, index), `${page}:${line}`),
      ...(language === 'sh' && between?.trim() === '' && next?.[2] !== 'sh' ? { printed: next?.[3] ?? '' } : {})
    }
  })
}

/** The blocks of all pages in a language that can be run, and how many of them are marked as not run. */
export function runnable (language: string): { blocks: Block[], marked: number } {
  const blocks = pages().flatMap(page => blocksOf(page)).filter(block => block.language === language)
  return {
    blocks: blocks.filter(({ notRun }) => notRun === undefined),
    marked: blocks.filter(({ notRun }) => notRun !== undefined).length
  }
}

/** Prints how many blocks were run; test/run.mjs passes standard error on. */
export function announce (count: string): void {
  process.stderr.write(`docs: ${count}\n`)
}

const MEMBERS: Record<string, 'notRun' | 'file' | 'given'> = { 'not run': 'notRun', file: 'file', given: 'given' }

function marks (before: string, place: string): Partial<Block> {
  const [comments = ''] = /(?:<!--(?:(?!-->)[^])*-->\s*)*$/.exec(before) ?? []
  return Object.fromEntries([...comments.matchAll(/<!--([^]*?)-->/g)].map(([, comment = '']) => {
    const [, name = '', value = ''] = /^([^:]*):?([^]*)$/.exec(comment.trim()) ?? []
    const member = MEMBERS[name]
    if (member === undefined) {
      throw new Error(`${place}: "${name}" is no mark; use one of ${Object.keys(MEMBERS).join(', ')}`)
    }
    if (value.trim() === '') throw new Error(`${place}: write a text after "${name}:"`)
    return [member, value.trim()]
  }))
}
