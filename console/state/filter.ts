import { estimateTokens } from './costs.js'
import type { Item } from './lists.js'

/** `tokens`: an estimate of those of all its definitions. */
export interface Group { name: string, items: Item[], total: number, tokens: number }

/** The items that have every word, in their order. */
export function filterItems (items: Item[], typed: string): Item[] {
  const words = typed.toLowerCase().split(/\s+/).filter(word => word !== '')
  return words.length === 0 ? items : items.filter(({ searched }) => words.every(word => searched.includes(word)))
}

/**
 * Items by upstream, those of the gateway first; no more than `limit` items in all, but each group with its whole
 * count.
 */
export function groupItems (items: Item[], limit: number): Group[] {
  const groups = new Map<string, Group>()
  for (const item of items) {
    const group = groups.get(item.group) ?? { name: item.group, items: [], total: 0, tokens: 0 }
    groups.set(item.group, group)
    group.total++
    group.tokens += estimateTokens(item.raw)
    group.items.push(item)
  }
  const sorted = [...groups.values()].sort((a, b) => byGroup(a.name, b.name))
  let left = limit
  return sorted.map(group => {
    const shown = group.items.slice(0, Math.max(0, left))
    left -= shown.length
    return { ...group, items: shown }
  })
}

const byGroup = (one: string, other: string): number =>
  one === other ? 0 : one === '' ? -1 : other === '' ? 1 : one.localeCompare(other)

/** At which place in the groups an item stands; -1 where it is not. */
export function placeOf (items: Item[], key: string | undefined): number {
  return [...items].sort((a, b) => byGroup(a.group, b.group)).findIndex(item => item.key === key)
}

/** Longer texts are no names with a slip in them. */
const MAX_TYPED = 40

/** The item whose name, or a part of it, is most like what was typed; undefined when none is like it. */
export function nearestItem (items: Item[], typed: string): Item | undefined {
  const wanted = typed.trim().toLowerCase()
  if (wanted.length < 3 || wanted.length > MAX_TYPED) return undefined
  let nearest: Item | undefined
  let least = Math.floor(wanted.length / 3) + 1
  for (const item of items) {
    const names = [item.name, item.title ?? '', item.name.slice(item.group === '' ? 0 : item.group.length + 2)].map(
      name => name.toLowerCase()
    )
    for (const name of new Set([...names, ...names.flatMap(part => part.split(/[^\p{L}\p{N}]+/u))])) {
      const distance = Math.abs(name.length - wanted.length) >= least ? least : editDistance(wanted, name)
      if (distance < least) [nearest, least] = [item, distance]
    }
  }
  return nearest
}

/** How many letters have to be added, left out, replaced or swapped with their neighbour. */
function editDistance (one: string, other: string): number {
  let before: number[] = []
  let row = Array.from({ length: other.length + 1 }, (_, index) => index)
  for (let i = 1; i <= one.length; i++) {
    const next = [i]
    for (let j = 1; j <= other.length; j++) {
      const isSwapped = i > 1 && j > 1 && one[i - 1] === other[j - 2] && one[i - 2] === other[j - 1]
      const replaced = (row[j - 1] ?? 0) + (one[i - 1] === other[j - 1] ? 0 : 1)
      next.push(
        Math.min((row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1, replaced, isSwapped ? (before[j - 2] ?? 0) + 1 : Infinity)
      )
    }
    [before, row] = [row, next]
  }
  return row[other.length] ?? 0
}
