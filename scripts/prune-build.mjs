// The compiler never deletes: without this, compiled tests and tools would outlive their sources.
import { existsSync, readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'

const compiled = /\.(d\.ts|js|js\.map)$/
const files = existsSync('build') ? readdirSync('build', { recursive: true }) : []

for (const file of files) {
  if (compiled.test(file) && !existsSync(file.replace(compiled, '.ts'))) rmSync(join('build', file))
}
