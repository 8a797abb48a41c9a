import { FLAG_NAMES as SERVE_FLAGS } from '../settings/arguments.js'
import { FLAG_NAMES as ASK_FLAGS } from './invocation.js'

/** The names that a word of a command line can be. */
export type NameKind = 'clients' | 'servers' | 'views'

/** The words of a command that a shell can complete, besides the things of a server that is asked. */
export interface CommandWords {
  readonly flags: readonly string[]
  /** The words that follow it, one after the other: some words, or names; the last one as often as it `repeats`. */
  readonly words?: ReadonlyArray<readonly string[] | NameKind>
  readonly repeats?: boolean
  /** Flags of its own whose value is the next word, and the values where they are few. */
  readonly values?: Readonly<Record<string, readonly string[] | NameKind>>
}

const SERVING = [...SERVE_FLAGS, 'help']
const ASKING = [...ASK_FLAGS]

/** The words of each command that has more than `--help`. */
export const COMMAND_WORDS: Readonly<Record<string, CommandWords>> = {
  __proto__: null as never,
  serve: { flags: [...SERVING, 'version'] },
  check: { flags: SERVING },
  lint: { flags: SERVING, words: ['servers'] },
  views: { flags: ['json', ...SERVING], words: ['views'] },
  clients: { flags: SERVING, words: ['clients'] },
  doctor: { flags: ['json', 'timeout', ...SERVING], words: ['servers'], values: { '--timeout': [] } },
  import: {
    flags: ['write', 'secrets', 'config', 'help'],
    words: ['clients'],
    repeats: true,
    values: { '--secrets': ['variables', 'files', 'keep'] }
  },
  export: { flags: ['write', 'undo', 'file', ...SERVING], words: ['clients'], values: { '--file': [] } },
  add: {
    flags: ['env', 'header', 'transport', 'config', 'help'],
    values: { '--transport': ['http', 'sse', 'websocket'], '-t': ['http', 'sse', 'websocket'], '--env': [], '-e': [], '--header': [], '-H': [] }
  },
  remove: { flags: ['config', 'help'], words: ['servers'] },
  list: { flags: ['json', 'config', 'help'] },
  login: { flags: ['no-browser', 'as', ...SERVING], words: ['servers'], values: { '--as': [] } },
  logout: { flags: ['as', ...SERVING], words: ['servers'], values: { '--as': [] } },
  pins: {
    flags: ['expect', ...SERVING],
    words: [['list', 'diff', 'accept', 'verify', 'reset'], 'servers'],
    values: { '--expect': [] }
  },
  rules: { flags: ['json', ...SERVING], words: [['explain']] },
  approvals: { flags: ['json', ...ASKING], words: [['list', 'approve', 'decline']] },
  key: { flags: ['scope', 'view', 'help'], values: { '--scope': [], '--view': 'views' } },
  completion: { flags: ['help'], words: [['bash', 'zsh', 'fish']] },
  tools: { flags: [...ASKING, 'json'] },
  call: { flags: [...ASKING, 'json', 'out'] },
  read: { flags: [...ASKING, 'out'] },
  prompt: { flags: [...ASKING, 'json'] },
  watch: { flags: [...ASKING, 'json'] }
}
