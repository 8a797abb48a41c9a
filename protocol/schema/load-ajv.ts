import { createRequire } from 'node:module'
import type { Ajv } from 'ajv'

const require = createRequire(import.meta.url)

/** The dialects of JSON Schema that Ajv has a class for, with the file of that class. */
const FILES = { 'draft-07': 'ajv', '2020-12': 'ajv/dist/2020.js' }

export type Dialect = keyof typeof FILES

/** Loads the Ajv class of a dialect. In dist/, scripts/bundle.mjs puts a bundled copy in the place of this file. */
export function loadAjv (dialect: Dialect): typeof Ajv {
  return (require(FILES[dialect]) as { default: typeof Ajv }).default
}
