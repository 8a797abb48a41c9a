import { useEffect, useLayoutEffect, useRef } from 'preact/hooks'

type Box = { current: HTMLElement | null }

/**
 * Brings the row of what is opened into view when that changes, or when its list has come. `draw` draws as many rows as
 * that needs.
 */
export function useOpenedInView (
  box: Box,
  opened: string | undefined,
  isListed: boolean,
  draw: () => void
): void {
  useEffect(() => {
    if (opened === undefined || !isListed) return
    draw()
    const frame = requestAnimationFrame(() =>
      box.current?.querySelector('a.item[aria-current]')?.scrollIntoView({ block: 'nearest' })
    )
    return () => cancelAnimationFrame(frame)
  }, [opened, isListed])
}

/** The arrow keys go from item to item; up from the first, to the filter. */
export function moveAmongItems (event: KeyboardEvent & { currentTarget: HTMLElement }): void {
  const { key, target } = event
  if (key !== 'ArrowDown' && key !== 'ArrowUp') return
  if (!(target instanceof HTMLElement) || !target.classList.contains('item')) return
  event.preventDefault()
  const all = [...event.currentTarget.querySelectorAll<HTMLElement>('a.item')]
  const place = all.indexOf(target) + (key === 'ArrowDown' ? 1 : -1)
  if (place < 0) event.currentTarget.parentElement?.querySelector<HTMLElement>('.filter input')?.focus()
  else all[place]?.focus()
}

/** A row that had the focus and is gone gives it to the list, not to the page. */
export function useKeptFocus (box: Box): void {
  const had = useRef(false)
  had.current = box.current?.contains(document.activeElement) === true
  useLayoutEffect(() => {
    if (had.current && document.activeElement === document.body) box.current?.querySelector('a')?.focus()
  })
}

/** Where one column is shown at a time, opening and going back hides what had the focus: it goes on to `next`. */
export function focusIfLost (next: () => HTMLElement | null): () => void {
  const frame = requestAnimationFrame(() => {
    const active = document.activeElement
    if (active === null || active === document.body || !active.checkVisibility()) next()?.focus()
  })
  return () => cancelAnimationFrame(frame)
}
