import type { Question } from './transports/transport.js'

/**
 * Calls of many kinds, each with a text that comes back: answered at once, answered late, answered after progress, read
 * and got.
 */
export function mixed (text: string, id: number): Question {
  return MIX[id % MIX.length]?.(text, id) ?? echo(text)
}

/** Answered at once. */
export const echo = (text: string): Question => call('load_echo', { text })

/** Answered after some time. */
export const later = (text: string, ms: number): Question => call('load_later', { text, ms })

/** Answered after some time, which begins when so many others wait, too. */
export const together = (text: string, crowd: number, ms: number): Question =>
  call('load_together', { text, crowd, ms })

/** Answered with what the client answers to its question. */
export const asking = (text: string): Question => call('load_ask', { text })

/** Answered never. */
export const endless = (text: string): Question => ({
  method: 'tools/call',
  params: { name: 'load_endless', arguments: { text }, _meta: { progressToken: text } }
})

const steps = (text: string): Question => ({
  method: 'tools/call',
  params: { name: 'load_steps', arguments: { text }, _meta: { progressToken: text } }
})
const read = (text: string): Question => ({ method: 'resources/read', params: { uri: `load://canary/${text}` } })
const get = (text: string): Question => ({
  method: 'prompts/get',
  params: { name: 'load_prompt', arguments: { text } }
})

const MIX: Array<(text: string, id: number) => Question> = [
  echo,
  echo,
  (text, id) => later(text, id % 4),
  echo,
  steps,
  read,
  echo,
  get
]

function call (name: string, args: object): Question {
  return { method: 'tools/call', params: { name, arguments: args } }
}
