import { isObject } from '../../protocol/wire/json.js'
import { shown, shownInLine, sizeInWords } from './terminal.js'

/** A file in a result: an image, a sound, or the bytes of a resource. */
export interface Part { readonly type: string, readonly bytes: Uint8Array }

/** The content of a result as text, and the files in it. */
export interface Content { readonly text: string, readonly files: readonly Part[] }

/** The text of content blocks. `isForPeople`: what a terminal would obey is made visible. */
export function textOfBlocks (blocks: unknown, isForPeople: boolean): Content {
  const files: Part[] = []
  const lines = (Array.isArray(blocks) ? blocks : [blocks]).map(block => textOfBlock(block, isForPeople, files))
  return { text: lines.join('\n'), files }
}

/** The text of a tool's result: its blocks, or what is structured in it where there are none. */
export function textOfResult (result: Readonly<Record<string, unknown>>, isForPeople: boolean): Content {
  const { content, structuredContent } = result
  if (Array.isArray(content) && content.length > 0) return textOfBlocks(content, isForPeople)
  if (structuredContent === undefined) return { text: '', files: [] }
  const text = JSON.stringify(structuredContent, null, 2)
  return { text: isForPeople ? shown(text) : text, files: [] }
}

function textOfBlock (block: unknown, isForPeople: boolean, files: Part[]): string {
  const clean = isForPeople ? shown : (text: string): string => text
  if (!isObject(block)) return clean(JSON.stringify(block) ?? '')
  const { type, text, data, mimeType, resource, uri, name } = block
  if (type === 'text' && typeof text === 'string') return clean(text)
  if ((type === 'image' || type === 'audio') && typeof data === 'string') return note(data, mimeType, files)
  if (type === 'resource_link') return clean(`${String(name ?? '')} ${String(uri)}`.trim())
  if (type === 'resource' && isObject(resource)) {
    if (typeof resource.text === 'string') return clean(resource.text)
    if (typeof resource.blob === 'string') return note(resource.blob, resource.mimeType, files)
  }
  return clean(JSON.stringify(block))
}

function note (data: string, mimeType: unknown, files: Part[]): string {
  const file = { type: shownInLine(String(mimeType ?? 'unknown type')), bytes: Buffer.from(data, 'base64') }
  files.push(file)
  return describeFile(file)
}

/** A file in words. */
export const describeFile = ({ type, bytes }: Part): string => `[${type}, ${sizeInWords(bytes.length)}]`

/** The contents of a resource, in order. */
export function partsOf (contents: unknown): Array<Part & { readonly text?: string }> {
  return (Array.isArray(contents) ? contents : []).filter(isObject).map(({ text, blob, mimeType }) => {
    const type = shownInLine(typeof mimeType === 'string' ? mimeType : 'unknown type')
    return typeof text === 'string'
      ? { type, bytes: Buffer.from(text), text }
      : { type, bytes: Buffer.from(typeof blob === 'string' ? blob : '', 'base64') }
  })
}
