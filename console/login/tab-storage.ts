/** The storage of this tab, as far as it is used; absent where the browser forbids it, and in tests without a page. */
interface TabStorage {
  getItem: (name: string) => string | null
  setItem: (name: string, value: string) => void
  removeItem: (name: string) => void
}

export function readTab (name: string): string | undefined {
  return tabStorage()?.getItem(name) ?? undefined
}

/**
 * Stores a text until the tab is closed, or removes it. Returns false where there is no storage, and throws where it is
 * full.
 */
export function writeTab (name: string, text: string | undefined): boolean {
  const storage = tabStorage()
  if (text === undefined) storage?.removeItem(name)
  else storage?.setItem(name, text)
  return storage !== undefined && storage !== null
}

// Reading the property throws where storage is forbidden.
function tabStorage (): TabStorage | undefined {
  try {
    return (globalThis as { sessionStorage?: TabStorage }).sessionStorage
  } catch {
    return undefined
  }
}
