import type { Tool } from '../../protocol/definitions/tool.js'
import type { PromptMessage } from '../../protocol/definitions/prompt.js'
import type { CallToolResult, ContentBlock, ResourceContents } from '../../protocol/wire/content.js'
import { ToolError } from '../../protocol/wire/errors.js'
import type { Json, MemoryClient, RequestOptions } from './client.js'

/** The result of a tool: the text of its content, its structured content, and all content blocks. */
export interface ToolReply<Output = unknown> { text: string, output: Output, content: ContentBlock[] }

/** A resource as it was read: its text, and its contents as they were sent. */
export interface ResourceReply { text: string, contents: ResourceContents[] }

/** The result of a prompt: the text of its messages, and the messages. */
export interface PromptReply { text: string, description?: string, messages: PromptMessage[] }

/** Calls a tool by its value, with the types of its schemas, or by its name. */
export interface CallTool {
  <Input, Output>(tool: Tool<Input, Output>, ...given: Given<Input>): Promise<ToolReply<Output>>
  (name: string, args?: Json, options?: RequestOptions): Promise<ToolReply>
}

/** The arguments may be left out where the schema requires none. */
type Given<Input> =
  Record<never, never> extends Input
    ? [args?: Input, options?: RequestOptions]
    : [args: Input, options?: RequestOptions]

/**
 * Rejects with a `ToolError` for an `isError` result, whose `cause` is that result: a test that does not look at
 * `isError` must not pass.
 */
export async function callTool (
  client: MemoryClient,
  tool: Tool | string,
  args: unknown,
  options?: RequestOptions
): Promise<ToolReply> {
  const name = typeof tool === 'string' ? tool : tool.name
  const result = (await client.request(
    'tools/call',
    { name, ...(args === undefined ? {} : { arguments: args }) },
    options
  )) as Json & CallToolResult
  const { content, structuredContent: output, isError } = result
  const text = textOf(content)
  if (isError === true) throw new ToolError(text, { cause: result })
  return { text, output, content }
}

export async function readResource (
  client: MemoryClient,
  uri: string,
  options?: RequestOptions
): Promise<ResourceReply> {
  const { contents } = (await client.request('resources/read', { uri }, options)) as { contents: ResourceContents[] }
  return { text: textOf(contents), contents }
}

export async function getPrompt (
  client: MemoryClient,
  name: string,
  args: Record<string, string> = {},
  options?: RequestOptions
): Promise<PromptReply> {
  const { description, messages } = (await client.request('prompts/get', { name, arguments: args }, options)) as {
    description?: string
    messages: PromptMessage[]
  }
  return {
    text: textOf(messages.map(({ content }) => content)),
    ...(description === undefined ? {} : { description }),
    messages
  }
}

function textOf (blocks: Array<ContentBlock | ResourceContents>): string {
  return blocks.flatMap(block => 'text' in block && typeof block.text === 'string' ? [block.text] : []).join('\n')
}
