import { createRequire } from 'node:module'

/** The version of this package. */
export const { version } = createRequire(import.meta.url)('mcp-patchbay/package.json') as { version: string }

/** The URL of the module that runs here in the name of this package. */
export const entry = new URL('./app.js', import.meta.url).href
