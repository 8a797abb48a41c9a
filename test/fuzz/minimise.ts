import type { Case, Step } from './case.js'
import { Members, placesIn, readTree, Text, writeTree, type Node } from './tree.js'
import { fairTime, waitLimits } from './waiting.js'

/** Resolves to true when a smaller case still shows the fault. */
export type Fails = (input: Case) => Promise<boolean>

/** The smallest case that still fails, as far as it can be found in that many tries and milliseconds. */
export async function minimise (input: Case, fails: Fails, tries = 600, ms = waitLimits.small): Promise<Case> {
  const end = fairTime() + ms
  let [best, left] = [input, tries]
  for (let smaller: Case | undefined = best; smaller !== undefined;) {
    smaller = undefined
    for (const candidate of candidates(best)) {
      if (left-- <= 0 || fairTime() > end) return best
      if (!await fails(candidate)) continue
      best = smaller = candidate
      break
    }
  }
  return best
}

/** Every case that is a little smaller, the much smaller ones first. */
function * candidates (input: Case): Generator<Case> {
  for (
    let at = 0; at < input.steps.length && input.steps.length >
  1; at++) yield { ...input, steps: input.steps.toSpliced(at, 1) }
  if (input.answers.length > 0) yield { ...input, answers: [] }
  if (input.cut > 0) yield { ...input, cut: 0 }
  for (const [at, step] of input.steps.entries()) {
    for (const smaller of smallerSteps(step)) yield { ...input, steps: input.steps.with(at, smaller) }
  }
  for (const [at, answer] of input.answers.entries()) {
    for (
      const bytes of [...smallerJson(answer), ...smallerBytes(answer)]
    ) yield { ...input, answers: input.answers.with(at, bytes) }
  }
}

function * smallerSteps (step: Step): Generator<Step> {
  const { head, ...bare } = step
  if (head !== undefined) {
    yield bare
    for (
      let at = 0; at < head.headers.length; at++
    ) yield { ...step, head: { ...head, headers: head.headers.toSpliced(at, 1) } }
  }
  for (const bytes of smallerJson(step.bytes)) yield { ...step, bytes }
  for (const bytes of smallerBytes(step.bytes)) yield { ...step, bytes }
}

function * smallerJson (bytes: Buffer): Generator<Buffer> {
  const count = placesIn(readTree(bytes) ?? []).length
  for (let at = 0; at < count; at++) {
    const smaller = changed(bytes, at, place => place.drop())
    if (smaller !== undefined) yield smaller
  }
  for (let at = 0; at < count; at++) {
    const smaller = changed(bytes, at, place => place.put(simpler(place.node)))
    if (smaller !== undefined && smaller.length < bytes.length) yield smaller
  }
}

function changed (
  bytes: Buffer,
  at: number,
  change: (place: ReturnType<typeof placesIn>[number]) => void
): Buffer | undefined {
  const tree = readTree(bytes)
  const place = tree === undefined ? undefined : placesIn(tree)[at]
  if (tree === undefined || place === undefined) return undefined
  change(place)
  return Buffer.from(writeTree(tree))
}

function simpler (node: Node): Node {
  if (!(node instanceof Text)) return Array.isArray(node) ? [] : new Members([])
  if (node.json.startsWith('"')) return new Text('""')
  return new Text('0')
}

function * smallerBytes (bytes: Buffer): Generator<Buffer> {
  for (let size = bytes.length >> 1; size >= 1; size >>= 1) {
    for (let at = 0; at < bytes.length; at += size) {
      yield Buffer.concat([bytes.subarray(0, at), bytes.subarray(at + size)])
    }
  }
}
