import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

// Loaded into servers whose memory is looked at: SIGWINCH, which nobody else listens to, leaves in it what they keep, and nothing else.
setFlagsFromString('--expose-gc')
const collect = runInNewContext('gc') as () => void
process.on('SIGWINCH', () => {
  collect()
  setTimeout(collect, 100).unref()
})
