import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

// Loaded into servers whose memory is looked at: SIGWINCH, which has no other listener, collects the garbage.
setFlagsFromString('--expose-gc')
const collect = runInNewContext('gc') as () => void
process.on('SIGWINCH', () => {
  collect()
  setTimeout(collect, 100).unref()
})
