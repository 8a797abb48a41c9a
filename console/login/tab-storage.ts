/** The storage of this tab, as far as it is used; absent where the browser forbids it, and in tests without a page. */
interface TabStorage { getItem: (name: string) => string | null, setItem: (name: string, value: string) => void, removeItem: (name: string) => void }

export function readTab (name: string): string | undefined {
  return tabStorage()?.getItem(name) ?? undefined
}

/** Stores a text until the tab is closed, or removes it. */
export function writeTab (name: string, text: string | undefined): void {
  if (text === undefined) tabStorage()?.removeItem(name)
  else tabStorage()?.setItem(name, text)
}

// Reading the property throws where storage is forbidden.
function tabStorage (): TabStorage | undefined {
  try {
    return (globalThis as { sessionStorage?: TabStorage }).sessionStorage
  } catch {
    return undefined
  }
}
