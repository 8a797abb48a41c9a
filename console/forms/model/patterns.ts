import type { Json } from '../../client/contract.js'

/** Longer texts are held against neither patterns nor formats. */
export const MAX_TESTED = 1_000

/** A pattern that can match in more ways than this is not tested. */
const MAX_WAYS = 10_000_000
/** More repetitions of one thing make a pattern too large. */
const MAX_COUNT = 1_000

/** True when a stranger's pattern may run on texts of this length: it is one, and there are few ways to match it, for all are tried before a text is found not to fit. */
export function safePattern (pattern: Json, longest: number): boolean {
  return typeof pattern === 'string' && longest <= MAX_TESTED && isPattern(pattern) && waysOf(pattern, MAX_TESTED) <= MAX_WAYS
}

/** True when all of these patterns, each of them safe, may run on so many texts of this length one after the other. */
export function safeTogether (patterns: string[], texts: number, longest: number): boolean {
  const ways = patterns.reduce((sum, pattern) => sum + waysOf(pattern, longest), 0)
  return ways * texts <= MAX_WAYS
}

function isPattern (pattern: string): boolean {
  try { return Boolean(new RegExp(pattern, 'u')) } catch { return false }
}

const BACK_REFERENCE = /\\(?:[1-9]|k<)/
const ESCAPE = /\\(?:[pPu]\{[^}]*\}|.)/gsu
const CLASS = /\[[^\]]*\]/g
const GROUP = /\(\?(?:[:=!]|<[=!]|<[^>]*>|[a-z-]*:)/g
const TOKEN = /[()|]|[*+?]\??|\{(\d+)(?:(,)(\d*))?\}\??/g

/** At most how many ways there are to match a text of this length; Infinity for what repeats a group with a choice in it, such as `(a+)*` and `(a|b)+`, and for two repetitions without end. */
export function waysOf (pattern: string, length: number): number {
  const plain = pattern.replaceAll('\\\\', 'x')
  if (BACK_REFERENCE.test(plain)) return Infinity
  const bare = plain.replace(ESCAPE, 'x').replace(CLASS, 'x').replace(GROUP, '(')
  const open = [{ repeats: false, choices: 1 }]
  let closed = false
  let endless = 0
  let ways = bare.startsWith('^') ? 1 : length
  for (const token of bare.matchAll(TOKEN)) {
    const group = open.at(-1) ?? { repeats: false, choices: 1 }
    if (token[0] === '(') open.push({ repeats: false, choices: 1 })
    else if (token[0] === '|') group.choices++
    else if (token[0] === ')') {
      open.pop()
      ways *= group.choices
      closed = group.repeats || group.choices > 1
      if (closed) open.push({ choices: 1, ...open.pop(), repeats: true })
    } else {
      if (closed && bare[token.index - 1] === ')') return Infinity
      group.repeats = true
      if (isEndless(token) && ++endless > 1) return Infinity
      ways *= countsOf(token, length)
    }
  }
  const choices = open[0]?.choices ?? 1
  // The `^` is that of the first choice only.
  return choices > 1 ? ways * choices * length : ways
}

/** `*`, `+` and `{2,}`. */
const isEndless = ([token, least, comma, most]: RegExpExecArray): boolean => !token.startsWith('?') && (least === undefined || (comma !== undefined && most === ''))

/** How many numbers of repetitions a quantifier allows; those without end as many as a text is long. */
function countsOf (quantifier: RegExpExecArray, length: number): number {
  const [token, least, comma, most] = quantifier
  if (token.startsWith('?')) return 2
  if (isEndless(quantifier)) return Number(least ?? 0) > MAX_COUNT ? Infinity : length
  const last = Number(comma === undefined ? least : most)
  return last > MAX_COUNT ? Infinity : last - Number(least) + 1
}
