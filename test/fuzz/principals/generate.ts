import { WHO, type Case, type Opening, type Head, type Line, type Step } from '../case.js'
import { eraOf, MODERN, REVISIONS } from '../openings.js'
import { defaultHead, rawRequest } from '../heads.js'
import { mutateBytes } from '../mutate/bytes.js'
import { mutateHead } from '../mutate/head.js'
import { mutateJson } from '../mutate/json.js'
import { mutateSequence } from '../mutate/sequence.js'
import type { Random } from '../random.js'
import { ANSWERS, MESSAGES, PLACES, SHOWN, VISITS } from './seeds.js'

const LINES: Line[] = ['session', 'session', 'modern', 'message', 'sse', 'websocket', 'ticketed']
const GOOD = 5

/** What a client of that line posts to, in the words of the targets with one caller. */
export const openingOf = (line: Line, opening: Opening): Opening =>
  line === 'modern' ? MODERN : line === 'message' || line === 'sse' ? line : opening

export const isSocket = (line: Line): boolean => line === 'websocket' || line === 'ticketed'

/** A conversation of two callers with one gateway at the same time. */
export function freshPair (random: Random): Case {
  const opening = random.pick(REVISIONS)
  const lines = Array.from({ length: 1 + random.below(2) }, () => random.pick(LINES))
  const first = random.below(2)
  const steps = Array.from({ length: 2 + random.below(4) }, (_none, at): Step => {
    const line = random.pick(lines)
    return {
      from: { who: WHO[(first + at) % 2] ?? 'ada', line },
      bytes: random.pick(MESSAGES[eraOf(openingOf(line, opening))])
    }
  })
  const answers = Array.from({ length: 1 + random.below(2) }, () => random.pick(ANSWERS))
  return {
    target: 'principals',
    opening,
    steps,
    answers,
    burst: random.below(3) > 0,
    cut: random.oneIn(12) ? 1 + random.below(40) : 0
  }
}

/**
 * Changes the messages, their connections and credentials; unchanged ones plant the texts that must not be seen
 * elsewhere.
 */
export function mutatePair (input: Case, random: Random): void {
  const others = () => random.pick(MESSAGES[random.oneIn(4) ? 'modern' : 'legacy'])
  if (random.oneIn(4)) mutateSequence(input.steps, random, others)
  for (const step of input.steps) {
    step.from ??= { who: random.pick(WHO), line: random.pick(LINES) }
    if (random.oneIn(12)) step.from = { who: random.pick(WHO), line: random.pick(LINES) }
    if (random.oneIn(3)) step.bytes = (random.below(10) < 8 ? mutateJson : mutateBytes)(step.bytes, random, others)
    if (random.below(5) < 2) mutateAccess(input, step, step.from.line, random, others)
  }
  if (random.oneIn(6)) input.answers = input.answers.map(() => random.pick(ANSWERS))
}

function mutateAccess ({ opening }: Case, step: Step, line: Line, random: Random, others: () => Buffer): void {
  if (step.raw === true) {
    step.bytes = mutateBytes(step.bytes, random, others)
    return
  }
  const visits = step.head === undefined && (isSocket(line) || random.oneIn(2))
  if (visits) step.bytes = Buffer.alloc(0)
  const head = copy(step.head ?? (visits ? random.pick(VISITS) : goodHead(line, opening, step.bytes)))
  if (!visits && PLACES[line].length > 0 && random.oneIn(2)) random.pick(PLACES[line])(head)
  if (visits || random.oneIn(2)) show(head, random)
  step.head = random.oneIn(4) ? mutateHead(head, random) : head
  if (random.oneIn(25)) {
    Object.assign(step, { raw: true, bytes: mutateBytes(rawRequest(step.head, step.bytes), random, others) })
  }
}

/** The request a good client makes. */
export function goodHead (line: Line, opening: Opening, body: Buffer): Head {
  const head = defaultHead(openingOf(line, opening), body)
  head.headers.push(['authorization', 'Bearer {{key}}'])
  return head
}

function show (head: Head, random: Random): void {
  const { headers, query } = random.pick(random.oneIn(3) ? SHOWN.slice(0, GOOD) : SHOWN)
  head.headers = [
    ...head.headers.filter(([name]) => name !== 'authorization'),
    ...headers.map(([name, value]): [string, string] => [name, value])
  ]
  if (query !== undefined) head.path += `${head.path.includes('?') ? '&' : '?'}${query}`
}

const copy = ({ method, path, headers }: Head): Head => ({
  method,
  path,
  headers: headers.map(([name, value]) => [name, value])
})
