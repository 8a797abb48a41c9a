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

/** True when a text that begins with `start` can fit the pattern. */
export function mayFitFrom (pattern: string, start: string): boolean {
  const wildcard = pattern.search(/[*?]/)
  if (wildcard === -1) return pattern.startsWith(start)
  const head = pattern.slice(0, wildcard)
  return head.startsWith(start) || start.startsWith(head)
}
