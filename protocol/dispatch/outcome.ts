/** How a call went: `failed` when the answer itself tells of a failure, and with the error it was answered with, if it was. */
export interface CallOutcome { outcome: 'ok' | 'failed' | 'error' | 'cancelled', code?: number, message?: string }

export const OK: CallOutcome = Object.freeze({ outcome: 'ok' })
export const FAILED: CallOutcome = Object.freeze({ outcome: 'failed' })
