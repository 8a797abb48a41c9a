import { signal, type Signal } from '@preact/signals'

interface Storage { getItem: (name: string) => string | null, setItem: (name: string, value: string) => void }

export type Theme = 'system' | 'light' | 'dark'

export const theme = setting<Theme>('theme', 'system', ['system', 'light', 'dark'])
/** Makes the key `/` go to the filter, when it is on. */
export const shortcuts = setting<'on' | 'off'>('shortcuts', 'on', ['on', 'off'])

/** A choice that this browser keeps; nothing secret is one. */
function setting<T extends string> (name: string, first: T, allowed: readonly T[]): Signal<T> {
  const key = `patchbay-${name}`
  const stored = storage()?.getItem(key)
  const made = signal(allowed.find(value => value === stored) ?? first)
  made.subscribe(value => { storage()?.setItem(key, value) })
  return made
}

// Reading the property throws where storage is forbidden.
function storage (): Storage | undefined {
  try {
    return (globalThis as { localStorage?: Storage }).localStorage
  } catch {
    return undefined
  }
}
