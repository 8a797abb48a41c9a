import type { Item } from './lists.js'

export interface Group { name: string, items: Item[], total: number }

/** The items that have every word, in their order. */
export function filterItems (items: Item[], typed: string): Item[] {
  const words = typed.toLowerCase().split(/\s+/).filter(word => word !== '')
  return words.length === 0 ? items : items.filter(({ searched }) => words.every(word => searched.includes(word)))
}

/** Items by upstream, those of the gateway first; no more than `limit` items in all, but each group with its whole count. */
export function groupItems (items: Item[], limit: number): Group[] {
  const groups = new Map<string, Group>()
  for (const item of items) {
    const group = groups.get(item.group) ?? { name: item.group, items: [], total: 0 }
    groups.set(item.group, group)
    group.total++
    group.items.push(item)
  }
  const sorted = [...groups.values()].sort((a, b) => a.name === '' ? -1 : b.name === '' ? 1 : a.name.localeCompare(b.name))
  let left = limit
  return sorted.map(group => {
    const shown = group.items.slice(0, Math.max(0, left))
    left -= shown.length
    return { ...group, items: shown }
  })
}
