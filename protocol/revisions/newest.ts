/** The newest revision of each era. Imports nothing, so that the page of the console may import it. */
export const NEWEST = { legacy: '2025-11-25', modern: '2026-07-28' } as const
