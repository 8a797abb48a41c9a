// Deletes compiled files whose sources are gone, which the compiler does not do; and what the compiler remembers, if a
// file that it wrote is gone, because it would not write it again.
import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'

const MEMORY = 'build/tsc.tsbuildinfo'
const compiled = /\.(d\.ts|js|js\.map)$/
const files = existsSync('build') ? readdirSync('build', { recursive: true }) : []

for (const file of files) {
  if (compiled.test(file) && !existsSync(file.replace(compiled, '.ts'))) rmSync(join('build', file))
}
if (existsSync(MEMORY) && !isWhole()) rmSync(MEMORY)

function isWhole () {
  try {
    const sources = JSON.parse(readFileSync(MEMORY, 'utf8')).fileNames.flatMap(
      name => /^\.\.\/(?!.*node_modules\/)(.*)(?<!\.d)\.ts$/.exec(name)?.[1] ?? []
    )
    return sources.every(name => ['.js', '.js.map', '.d.ts'].every(ending => existsSync(join('build', name + ending))))
  } catch {
    return false
  }
}
