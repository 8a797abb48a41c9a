import { signal } from '@preact/signals'

/** The text of the live region; `id` makes the same words heard again. */
export const announcement = signal({ id: 0, text: '' })

/** Tells people who listen to the page what has changed in it. */
export function announce (text: string): void {
  announcement.value = { id: announcement.peek().id + 1, text }
}
