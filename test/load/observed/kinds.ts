import type { Json } from '../ledger.js'
import type { Question } from '../transports/transport.js'

/** A kind of call, with what labels and audit lines say about it. */
export interface Kind {
  question: (name: string) => Question
  /** Absent for one that does not exist. */
  method?: string
  tool?: string
  /** How the call ends, where its answer does not tell. */
  ends?: 'denied' | 'cancelled'
}

const tool = (name: string, more: Pick<Kind, 'ends'> = {}, args: (text: string) => Json = () => ({})): Kind => ({
  question: text => ({ method: 'tools/call', params: { name, arguments: args(text) } }),
  method: 'tools/call',
  tool: name,
  ...more
})

const asking = (method: string, params: (name: string) => Json): Kind => ({
  question: name => ({ method, params: params(name) }),
  method
})

/** What names things that do not exist, under a new name each time. */
export const inventing: Kind[] = [
  asking('tools/call', name => ({ name, arguments: {} })),
  { question: name => ({ method: name, params: {} }) },
  asking('prompts/get', name => ({ name })),
  asking('resources/read', name => ({ uri: `${name}://${name}` })),
  asking('completion/complete', name => ({ ref: { type: 'ref/prompt', name }, argument: { name, value: '' } }))
]

/** Calls that succeed, and those that end in every other way. */
export const kinds: Kind[] = [
  tool('load_echo', {}, text => ({ text })),
  asking('tools/list', () => ({})),
  asking('resources/read', text => ({ uri: `load://canary/${text}` })),
  asking('prompts/get', text => ({ name: 'load_prompt', arguments: { text } })),
  asking('prompts/get', () => ({ name: 'load_prompt' })),
  tool('load_fail'),
  tool('load_break'),
  tool('load_rated'),
  tool('load_guarded', { ends: 'denied' }),
  tool('load_endless', { ends: 'cancelled' }, text => ({ text })),
  ...inventing
]
