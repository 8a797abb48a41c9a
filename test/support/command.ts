import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const ROOT = new URL('../../../', import.meta.url)
const { bin } = JSON.parse(readFileSync(new URL('package.json', ROOT), 'utf8')) as { bin: { patchbay: string } }

/** The command as it is shipped. */
export const SHIPPED = fileURLToPath(new URL(bin.patchbay, ROOT))

/** The command that tests launch: the shipped one, unless TEST_COMMAND names another. */
export const COMMAND = fileURLToPath(new URL(process.env['TEST_COMMAND'] ?? bin.patchbay, ROOT))
