import type { Annotations, CallToolResult, ContentBlock, ResourceContents } from '../wire/content.js'
import { isObject } from '../wire/json.js'
import type { Features, Implementation } from './revision.js'

/**
 * Converts what an author wrote into what a revision can say. Nothing a client's revision does not know leaves the
 * process.
 */
export const convert = { definition, implementation, content, contents, callResult, fits, sampling, progress }

type Definition = Record<string, unknown>

/** A tool, resource, template, prompt or prompt argument as it is listed. */
function definition (item: Definition, features: Features): Definition {
  const out = { ...item }
  const isTool = 'inputSchema' in out
  if (!features.titles) {
    // The first place a tool's title had.
    if (isTool && out.title !== undefined) out.annotations = { title: out.title, ...out.annotations as object }
    delete out.title
    delete out._meta
    if (isObject(out.annotations)) out.annotations = early(out.annotations)
  }
  if (!features.icons) delete out.icons
  if (!features.execution) delete out.execution
  if (!features.toolAnnotations && isTool) delete out.annotations
  if (!hasOutput(out.outputSchema, features)) delete out.outputSchema
  if (Array.isArray(out.arguments)) {
    out.arguments = out.arguments.map((argument: Definition) => definition(argument, features))
  }
  return out
}

function implementation (info: Implementation, features: Features): Implementation {
  const { name, version, title } = info
  if (features.icons) return info
  return features.titles && title !== undefined ? { name, title, version } : { name, version }
}

function content (block: ContentBlock, features: Features): ContentBlock {
  if (block.type === 'audio' && !features.audio) {
    return { type: 'resource', resource: { uri: 'attachment:///audio', mimeType: block.mimeType, blob: block.data } }
  }
  if (block.type === 'resource_link' && !features.titles) {
    return { type: 'text', text: [`${block.name}: ${block.uri}`, block.description].filter(Boolean).join('\n') }
  }
  return features.titles ? block : plain(block)
}

/** Converts what was read from a resource. */
function contents (parts: ResourceContents[], features: Features): ResourceContents[] {
  return features.titles ? parts : parts.map(withoutMeta)
}

function callResult (result: CallToolResult, features: Features): CallToolResult {
  if (
    features.titles &&
    features.audio &&
    (result.structuredContent === undefined || fits(result.structuredContent, features))
  ) { return result }
  const { content: blocks, structuredContent, _meta, ...rest } = result
  return {
    content: blocks.map(block => content(block, features)),
    ...(structuredContent !== undefined && fits(structuredContent, features) ? { structuredContent } : {}),
    ...rest,
    ...(_meta === undefined ? {} : { _meta })
  }
}

function sampling (params: Definition, features: Features): Definition {
  if (features.samplingTools) return params
  const { tools, toolChoice, ...rest } = params
  return Array.isArray(rest.messages) ? { ...rest, messages: rest.messages.flatMap(separate) } : rest
}

/** A message for each block: revisions without tools have one in a message. */
function separate (message: unknown): unknown[] {
  return isObject(message) && Array.isArray(message.content)
    ? message.content.map(block => ({ ...message, content: block as unknown }))
    : [message]
}

function progress (params: object, message: string | undefined, features: Features): object {
  return message !== undefined && features.progressMessage ? { ...params, message } : params
}

function plain (block: ContentBlock): ContentBlock {
  const { _meta, ...rest } = block
  // A block of an upstream may lack members that the types promise.
  const inner = rest.type === 'resource' && isObject(rest.resource) ? { resource: withoutMeta(rest.resource) } : {}
  return {
    ...rest,
    ...inner,
    ...(!isObject(rest.annotations) ? {} : { annotations: early(rest.annotations) })
  } as ContentBlock
}

function withoutMeta ({ _meta, ...rest }: ResourceContents): ResourceContents {
  return rest
}

function early<A extends Annotations> ({ lastModified, ...annotations }: A): Omit<A, 'lastModified'> {
  return annotations
}

function hasOutput (schema: unknown, features: Features): boolean {
  if (features.structured === 'object') return isObject(schema) && schema.type === 'object'
  return features.structured === 'any' && schema !== undefined
}

function fits (value: unknown, features: Features): boolean {
  return features.structured === 'any' || (features.structured === 'object' && isObject(value))
}
