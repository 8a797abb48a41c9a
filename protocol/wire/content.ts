export interface Annotations { audience?: Array<'user' | 'assistant'>, priority?: number, lastModified?: string }
interface Decorated { annotations?: Annotations, _meta?: object }

export interface TextBlock extends Decorated { type: 'text', text: string }
export interface ImageBlock extends Decorated { type: 'image', data: string, mimeType: string }
export interface AudioBlock extends Decorated { type: 'audio', data: string, mimeType: string }
export interface LinkBlock extends Decorated {
  type: 'resource_link'
  uri: string
  name: string
  title?: string
  description?: string
  mimeType?: string
  size?: number
}
export interface ResourceBlock extends Decorated { type: 'resource', resource: ResourceContents }

/** A block of content that a tool or a prompt can show. */
export type ContentBlock = TextBlock | ImageBlock | AudioBlock | LinkBlock | ResourceBlock

export interface ResourceContents { uri: string, mimeType?: string, text?: string, blob?: string, _meta?: object }

export interface CallToolResult {
  content: ContentBlock[]
  structuredContent?: unknown
  isError?: boolean
  _meta?: object
}

export const text = (value: string): TextBlock => ({ type: 'text', text: value })
