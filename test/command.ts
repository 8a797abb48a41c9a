import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const { bin } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as { bin: { patchbay: string } }

/** The command as it is shipped; where coverage is measured the same in the files that are measured. */
export const COMMAND = fileURLToPath(process.env['NODE_V8_COVERAGE'] === undefined ? new URL(`../../${bin.patchbay}`, import.meta.url) : new URL('../cli.js', import.meta.url))
