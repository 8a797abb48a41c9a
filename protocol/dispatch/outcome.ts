/** How a call went: `failed` when the answer itself tells of a failure, and with the error it was answered with, if it was. */
export interface Ended { outcome: 'ok' | 'failed' | 'error' | 'cancelled', code?: number, message?: string }

export const OK: Ended = Object.freeze({ outcome: 'ok' })
export const FAILED: Ended = Object.freeze({ outcome: 'failed' })
