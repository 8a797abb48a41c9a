// This file imports nothing, so that the page of the console may import it.

/** The newest revision of each era. */
export const NEWEST = { legacy: '2025-11-25', modern: '2026-07-28' } as const

/** The newest version of MCP Apps, which pages and the hosts that show them agree on. */
export const NEWEST_APPS = '2026-01-26'
