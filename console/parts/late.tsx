import { signal } from '@preact/signals'
import type { ComponentType } from 'preact'
import { useEffect } from 'preact/hooks'

/**
 * A part of the page that is loaded when it is first opened: most visits do not need it. A component for each, made
 * once.
 */
export function late<P extends object> (load: () => Promise<ComponentType<P>>): ComponentType<P> {
  const loaded = signal<ComponentType<P> | undefined>(undefined)
  const failed = signal(false)
  const begin = async (): Promise<void> => {
    failed.value = false
    try {
      loaded.value = await load()
    } catch {
      failed.value = true
    }
  }
  return function Late (props: P) {
    useEffect(() => { if (loaded.value === undefined) void begin() }, [])
    const Loaded = loaded.value
    if (Loaded !== undefined) return <Loaded {...props} />
    return failed.value
      ? (
        <p class='note bad row spread'>
          This view could not be loaded.{' '}
          <button
            type='button'
            onClick={() => {
              void begin()
            }}
          >
            Try again
          </button>
        </p>
        )
      : (
        <p class='quiet'>Loading…</p>
        )
  }
}
