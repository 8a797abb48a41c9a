import type { Attributes } from '@opentelemetry/api'
import type { TracedSubject } from '../../../protocol/wire/trace.js'

export function spanName (method: string, { tool, prompt }: TracedSubject): string {
  const target = tool ?? prompt
  return target === undefined ? method : method + ' ' + target
}

/** The attributes that a span begins with, by which a sampler may choose. */
export function firstAttributes (method: string, { tool, prompt }: TracedSubject): Attributes {
  if (tool !== undefined) {
    return { 'mcp.method.name': method, 'gen_ai.tool.name': tool, 'gen_ai.operation.name': 'execute_tool' }
  }
  return prompt === undefined
    ? { 'mcp.method.name': method }
    : { 'mcp.method.name': method, 'gen_ai.prompt.name': prompt }
}

/** How a message travels, and in which revision. */
export function networkAttributes (transport: string, version: string | undefined): Attributes {
  const revision = version === undefined ? {} : { 'mcp.protocol.version': version }
  if (transport === 'stdio') return { ...revision, 'network.transport': 'pipe' }
  if (transport === 'memory') return revision
  return {
    ...revision,
    'network.transport': 'tcp',
    'network.protocol.name': transport === 'websocket' ? 'websocket' : 'http'
  }
}
