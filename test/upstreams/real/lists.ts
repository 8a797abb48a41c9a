import type { Client } from '@modelcontextprotocol/sdk/client/index.js'

export type Lists = Record<string, object[]>

interface Page { nextCursor?: string | undefined }

/** Everything a server lists, page by page, in the order of names. */
export async function listsOf (client: Client): Promise<Lists> {
  const { tools, prompts, resources } = client.getServerCapabilities() ?? {}
  return {
    tools: tools === undefined ? [] : await pages(async params => await client.listTools(params), 'tools'),
    prompts: prompts === undefined ? [] : await pages(async params => await client.listPrompts(params), 'prompts'),
    resources:
      resources === undefined ? [] : await pages(async params => await client.listResources(params), 'resources'),
    resourceTemplates:
      resources === undefined
        ? []
        : await pages(async params => await client.listResourceTemplates(params), 'resourceTemplates')
  }
}

async function pages (list: (params: { cursor?: string }) => Promise<Page>, kind: string): Promise<object[]> {
  const items: object[] = []
  let cursor: string | undefined
  do {
    const page = await list(cursor === undefined ? {} : { cursor })
    items.push(...(page as Record<string, object[]>)[kind] ?? [])
    cursor = page.nextCursor
  } while (cursor !== undefined)
  return items.sort((one, other) => keyOf(one) < keyOf(other) ? -1 : 1)
}

function keyOf (item: object): string {
  const { name, uri, uriTemplate } = item as Record<string, string>
  return `${name} ${uri ?? uriTemplate ?? ''}`
}
