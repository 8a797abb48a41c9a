/** A place in a text, counted from 1. */
export interface Place { line: number, column: number }

/** Finds the places of offsets in a text, in a time that hardly grows with the text. */
export function placeFinder (text: string): (offset: number) => Place {
  let starts: number[] | undefined
  return offset => {
    starts ??= lineStarts(text)
    let [low, high] = [0, starts.length]
    while (high - low > 1) {
      const middle = (low + high) >> 1
      if ((starts[middle] ?? 0) <= offset) low = middle
      else high = middle
    }
    return { line: low + 1, column: offset - (starts[low] ?? 0) + 1 }
  }
}

function lineStarts (text: string): number[] {
  const starts = [0]
  for (let end = text.indexOf('\n'); end !== -1; end = text.indexOf('\n', end + 1)) starts.push(end + 1)
  return starts
}
