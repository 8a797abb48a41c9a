import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'

/**
 * Copies a declaration file and those it imports, from one folder to another.
 *
 * Fastify is an optional peer: authors of tools do not need it. Where it is not installed, what it declares is `any` and not an error.
 */
export function copyTypes (from, to, entry) {
  const copied = new Set()
  copy(new URL(entry, from))

  function copy (file) {
    if (copied.has(file.href)) return
    copied.add(file.href)
    const text = readFileSync(file, 'utf8')
    const target = new URL(file.href.slice(from.href.length), to)
    mkdirSync(new URL('.', target), { recursive: true })
    writeFileSync(target, text.replace(/\n\/\/# sourceMappingURL=.*\n?$/, '\n').split('\n').map(tolerant).join('\n'))
    for (const [, path] of text.matchAll(/(?:from|import|import\() ?['"](\.[^'"]+)\.js['"]/g)) copy(new URL(`${path}.d.ts`, file))
  }
}

const tolerant = line => /(from|import\(|declare module) ?['"]fastify['"]/.test(line) ? `// @ts-ignore Fastify may not be installed.\n${line}` : line
