/**
 * True when the whole text fits the pattern, in which `*` stands for any characters and `?` for one. Takes linear time
 * for one `*`, and quadratic time at most.
 */
export function fitsGlob (pattern: string, text: string): boolean {
  let at = 0
  let inPattern = 0
  let star = -1
  let afterStar = 0
  while (at < text.length) {
    const expected = pattern[inPattern]
    if (expected === '*') {
      star = inPattern++
      afterStar = at
    } else if (expected === '?' || expected === text[at]) {
      inPattern++
      at++
    } else if (star === -1) {
      return false
    } else {
      // The latest `*` takes one character more.
      inPattern = star + 1
      at = ++afterStar
    }
  }
  while (pattern[inPattern] === '*') inPattern++
  return inPattern === pattern.length
}

/**
 * Makes a test for a pattern in which only `*` stands for other characters. It looks for each part between two of them
 * once.
 */
export function matcherOf (pattern: string): (text: string) => boolean {
  const [first = '', ...parts] = pattern.split('*')
  const last = parts.pop()
  if (last === undefined) return text => text === pattern
  const least = pattern.length - parts.length - 1
  return text => {
    if (text.length < least || !text.startsWith(first) || !text.endsWith(last)) return false
    let at = first.length
    for (const part of parts) {
      const found = text.indexOf(part, at)
      if (found < 0) return false
      at = found + part.length
    }
    return at <= text.length - last.length
  }
}

/** True when a text that begins with `start` can fit the pattern. */
export function mayFitFrom (pattern: string, start: string): boolean {
  const wildcard = pattern.search(/[*?]/)
  if (wildcard === -1) return pattern.startsWith(start)
  const head = pattern.slice(0, wildcard)
  return head.startsWith(start) || start.startsWith(head)
}
