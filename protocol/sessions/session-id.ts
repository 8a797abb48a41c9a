import { randomToken } from '../../lib/random-token.js'

/**
 * 144 random bits after the time: a database that keeps rows in the order of their keys then writes one page for all
 * sessions that are opened together, not one for each.
 */
export const newSessionId = (): string => `${Date.now().toString(36)}${randomToken(18, 'base64url')}`
