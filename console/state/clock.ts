import { signal } from '@preact/signals'

/** The time, each second. */
export const now = signal(Date.now())
