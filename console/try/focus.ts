/** Where one column is shown at a time, opening and going back hides what had the focus: it goes on to `next`. */
export function focusIfLost (next: () => HTMLElement | null): () => void {
  const frame = requestAnimationFrame(() => {
    const active = document.activeElement
    if (active === null || active === document.body || !active.checkVisibility()) next()?.focus()
  })
  return () => cancelAnimationFrame(frame)
}
