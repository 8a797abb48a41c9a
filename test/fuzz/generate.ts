import type { Case, Step, TargetName } from './case.js'
import { openingsOf, eraOf } from './openings.js'
import { defaultHead, rawRequest } from './heads.js'
import { mutateBytes } from './mutate/bytes.js'
import { mutateFrames } from './mutate/frames.js'
import { mutateHead } from './mutate/head.js'
import { mutateJson } from './mutate/json.js'
import { mutateSequence } from './mutate/sequence.js'
import { freshPair, mutatePair } from './principals/generate.js'
import { Random } from './random.js'
import { ANSWERS, SEEDS } from './seeds.js'

/** The case of that number: a new conversation, or one of the pool that is changed once more. */
export function generate (target: TargetName, seed: string, index: number, pool: readonly Case[]): Case {
  const random = new Random(`${seed}/${target}/${index}`)
  const base = pool.length > 0 && random.below(10) < 4 ? copy(random.pick(pool)) : fresh(target, random)
  if (target === 'principals') {
    mutatePair(base, random)
    return base
  }
  const others = () => random.pick(SEEDS[random.oneIn(4) ? 'modern' : eraOf(base.opening)])
  if (random.oneIn(3)) mutateSequence(base.steps, random, others)
  for (const step of base.steps) if (!random.oneIn(4)) mutateStep(target, base, step, random, others)
  if (random.oneIn(3)) base.answers = base.answers.map(answer => mutateAnswer(answer, random, others))
  return base
}

function fresh (target: TargetName, random: Random): Case {
  if (target === 'principals') return freshPair(random)
  const opening = random.pick(openingsOf[target])
  const steps = Array.from({ length: 1 + random.below(4) }, () => ({ bytes: random.pick(SEEDS[eraOf(opening)]) }))
  const answers = Array.from({ length: random.below(3) }, () => random.pick(ANSWERS))
  return {
    target,
    opening,
    steps,
    answers,
    burst: random.below(3) > 0,
    cut: random.oneIn(8) ? 1 + random.below(40) : 0
  }
}

const copy = (input: Case): Case => ({
  ...input,
  steps: input.steps.map(step => ({ ...step })),
  answers: [...input.answers]
})

function mutateStep (target: TargetName, { opening }: Case, step: Step, random: Random, others: () => Buffer): void {
  if (step.raw === true) {
    step.bytes = mutateBytes(step.bytes, random, others)
    return
  }
  step.bytes = (random.below(10) < 7 ? mutateJson : mutateBytes)(step.bytes, random, others)
  if (target === 'websocket' && random.oneIn(6)) {
    Object.assign(step, { raw: true, bytes: mutateFrames(step.bytes, random) })
  }
  if (target !== 'http' || random.below(10) < 6) return
  if (random.oneIn(20)) {
    Object.assign(step, {
      raw: true,
      bytes: mutateBytes(rawRequest(step.head ?? defaultHead(opening, step.bytes), step.bytes), random, others)
    })
  } else step.head = mutateHead(step.head ?? defaultHead(opening, step.bytes), random)
}

// The id of the question is put in later, so what stands for it must stay readable to the mutator.
function mutateAnswer (answer: Buffer, random: Random, others: () => Buffer): Buffer {
  const text = answer.toString().replaceAll('{{id}}', '"{{id}}"')
  const mutated = (random.oneIn(5) ? mutateBytes : mutateJson)(Buffer.from(text), random, others)
  return mutated.includes('"{{id}}"')
    ? Buffer.from(mutated.toString('latin1').replaceAll('"{{id}}"', '{{id}}'), 'latin1')
    : mutated
}
