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
