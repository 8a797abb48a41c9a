// Copies the declaration files of what the package exports, and those they import, from build/ to dist/types/.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'

const FROM = new URL('../build/', import.meta.url)
const TO = new URL('../dist/types/', import.meta.url)

const copied = new Set()
copy(new URL('app.d.ts', FROM))

function copy (file) {
  if (copied.has(file.href)) return
  copied.add(file.href)
  const text = readFileSync(file, 'utf8')
  const target = new URL(file.href.slice(FROM.href.length), TO)
  mkdirSync(new URL('.', target), { recursive: true })
  writeFileSync(target, text.split('\n').map(tolerant).join('\n'))
  for (const [, path] of text.matchAll(/(?:from|import|import\() ?['"](\.[^'"]+)\.js['"]/g)) {
    copy(new URL(`${path}.d.ts`, file))
  }
}

/**
 * Fastify is an optional peer, which authors of tools do not need. Where it is not installed, what it declares is `any`
 * and not an error.
 */
function tolerant (line) {
  return /(from|import\(|declare module) ?['"]fastify['"]/.test(line)
    ? `// @ts-ignore Fastify may not be installed.\n${line}`
    : line
}
