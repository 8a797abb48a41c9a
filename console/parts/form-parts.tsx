/** Stands after the name of a field that has to be filled in; others have no mark. */
export function RequiredMark ({ required }: { required: boolean }) {
  return required ? <span class='quiet small'> required</span> : null
}

/**
 * Sends a form with Ctrl+Enter or Command+Enter from any of its fields, and with Enter alone from a text that looks
 * like one line: Shift+Enter breaks the line there.
 */
export function submitKeys (event: KeyboardEvent & { currentTarget: HTMLFormElement }): void {
  if (event.key !== 'Enter' || event.isComposing) return
  const { target } = event
  const isLine = target instanceof HTMLTextAreaElement && target.classList.contains('grows')
  if (!event.ctrlKey && !event.metaKey && !(isLine && !event.shiftKey && !event.altKey)) return
  event.preventDefault()
  // A key that is held down calls once.
  if (!event.repeat) event.currentTarget.requestSubmit()
}
