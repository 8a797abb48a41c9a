const LINE = /^\s*(?:export\s+)?([A-Za-z_][\w.]*)\s*=\s*(.*?)\s*$/

/** The variables of a file with `NAME=value` on each line. Quotes around a value go, and `#` begins a comment. Throws a sentence at any other line. */
export function parseEnvironmentFile (text: string): Record<string, string> {
  const entries = text.split(/\r?\n/).flatMap((line, index) => {
    if (/^\s*(#|$)/.test(line)) return []
    const [, name, value = ''] = LINE.exec(line) ?? []
    if (name === undefined) throw new Error(`refers to a file whose line ${index + 1} is not NAME=value`)
    return [[name, unquoted(value)] as const]
  })
  return Object.fromEntries(entries)
}

function unquoted (value: string): string {
  const [, quote, inner = ''] = /^(["'`])(.*)\1(?:\s+#.*)?$/.exec(value) ?? []
  if (quote === '"') return inner.replace(/\\([nrt"\\])/g, (_, letter: string) => ESCAPES[letter] ?? letter)
  return quote === undefined ? value.replace(/\s+#.*$/, '') : inner
}

const ESCAPES: Record<string, string> = { n: '\n', r: '\r', t: '\t' }
