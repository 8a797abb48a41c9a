import { useEffect } from 'preact/hooks'
import type { Call } from '../../state/calls.js'

/** A call that was begun longer ago is not new to who looks at it. */
const NEW_MS = 2_000

/**
 * Brings a call into view when it is begun and when it has ended, unless its reader has gone elsewhere meanwhile. The
 * focus stays where it is: how the call ended is announced.
 */
export function useIntoView (box: { current: HTMLElement | null }, call: Call): void {
  const outcome = call.outcome.value
  useEffect(() => {
    const element = box.current
    if (element === null || Date.now() - (call.endedAt.peek() ?? call.startedAt) > NEW_MS || hasLeft(element)) return
    const frame = requestAnimationFrame(() => {
      const { top, bottom, height } = element.getBoundingClientRect()
      if (top >= 0 && bottom <= innerHeight) return
      const behavior = matchMedia('(prefers-reduced-motion: reduce)').matches ? 'auto' : 'smooth'
      element.scrollIntoView({ behavior, block: height > innerHeight ? 'start' : 'nearest' })
    })
    return () => cancelAnimationFrame(frame)
  }, [outcome])
}

/** True when the focus is in another part of the page than the call and its form. */
function hasLeft (element: HTMLElement): boolean {
  const { activeElement } = document
  return (
    activeElement !== null &&
    activeElement !== document.body &&
    activeElement.closest('article, dialog, main') !== null &&
    element.closest('article')?.contains(activeElement) === false &&
    !activeElement.contains(element)
  )
}
