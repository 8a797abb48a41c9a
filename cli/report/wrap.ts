const WIDTH = 80
const LABEL = 10
const INDENT = ' '.repeat(LABEL + 3)

/** A label and a list of names, in lines of 80 columns; a name that is longer has its own line. */
export function wrap (label: string, names: string[]): string[] {
  return fill(label, names.map((name, index) => index === names.length - 1 ? name : `${name},`))
}

/** A label and a text, in lines of 80 columns, and a note beside it or below. */
export function wrapWords (label: string, text: string, note?: string): string[] {
  const lines = fill(label, text.split(' '))
  if (note === undefined) return lines
  const beside = `${(lines.at(-1) ?? '').padEnd(NOTE)} ${note}`
  return beside.length <= WIDTH ? [...lines.slice(0, -1), beside] : [...lines, `${INDENT}${note}`]
}

/** A sentence and what to copy from it, in one line if that has at most 80 columns. */
export function sentence (text: string, copied: string): string[] {
  const line = `${text} ${copied}`
  return line.length <= WIDTH ? [line] : [text, `  ${copied}`]
}

/** The column of notes, where there is space for them. */
const NOTE = 46

function fill (label: string, words: string[]): string[] {
  const lines: string[] = []
  for (const word of words) {
    const last = lines.at(-1)
    if (last === undefined) lines.push(`  ${label.padEnd(LABEL)} ${word}`)
    else if (last.length + word.length >= WIDTH) lines.push(`${INDENT}${word}`)
    else lines[lines.length - 1] = `${last} ${word}`
  }
  return lines
}
