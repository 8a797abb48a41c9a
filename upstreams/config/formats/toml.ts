import { parse, TomlError } from 'smol-toml'
import { DocumentError, type Document } from '../../../system/documents/document.js'

/** Parses TOML. Throws a DocumentError at the first mistake. */
export function parseToml (text: string): Document {
  try {
    return { value: parse(text), lineOf: path => lineOf(text.split('\n'), path) }
  } catch (error) {
    if (!(error instanceof TomlError)) throw error
    throw new DocumentError(
      error.line,
      `this is not TOML (${error.message.split('\n')[0]?.replace(/^Invalid TOML document: /, '') ?? ''})`
    )
  }
}

/** The line of the innermost table or key of a path that begins a line of its own. */
function lineOf (lines: string[], path: readonly string[]): number | undefined {
  const keys = path.map(name => `(?:${escapePattern(name)}|"${escapePattern(name)}"|'${escapePattern(name)}')`)
  for (let length = keys.length; length > 1; length--) {
    const table = lines.findIndex(line =>
      new RegExp(`^\\s*\\[\\s*${keys.slice(0, length).join('\\s*\\.\\s*')}\\s*\\]`).test(line)
    )
    if (table === -1) continue
    const rest = lines.slice(table + 1)
    const end = rest.findIndex(line => /^\s*\[/.test(line))
    const key =
      length === keys.length
        ? -1
        : rest
          .slice(0, end === -1 ? undefined : end)
          .findIndex(line => new RegExp(`^\\s*${keys[length] ?? ''}\\s*[.=]`).test(line))
    return table + key + 2
  }
  return undefined
}

const escapePattern = (text: string): string => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')
