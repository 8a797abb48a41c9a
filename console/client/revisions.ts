import type { Era } from './contract.js'

/** The revision that stands for each era here. */
export const REVISIONS: Record<Era, string> = { legacy: '2025-11-25', modern: '2026-07-28' }
