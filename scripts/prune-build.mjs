// Deletes compiled files whose sources are gone, which the compiler does not do.
import { existsSync, readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'

const compiled = /\.(d\.ts|js|js\.map)$/
const files = existsSync('build') ? readdirSync('build', { recursive: true }) : []

for (const file of files) {
  if (compiled.test(file) && !existsSync(file.replace(compiled, '.ts'))) rmSync(join('build', file))
}
