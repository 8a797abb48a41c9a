import { isObject, type Client, type Json, type JsonObject } from './contract.js'

/** A list that never ends is cut here. */
const MAX_PAGES = 1_000

/** Every item of a list, whatever its pages; `some` hears of them page by page. */
export async function listAll (client: Client, method: string, member: string, some: (items: JsonObject[]) => void = () => {}): Promise<JsonObject[]> {
  const all: JsonObject[] = []
  let cursor: Json | undefined
  for (let page = 0; page < MAX_PAGES; page++) {
    const result: JsonObject = await client.request(method, cursor === undefined ? {} : { cursor })
    const items = result[member]
    // One by one: a page may have more items than a call can have arguments.
    for (const item of Array.isArray(items) ? items : []) if (isObject(item)) all.push(item)
    some(all)
    if (typeof result.nextCursor !== 'string') return all
    cursor = result.nextCursor
  }
  return all
}
