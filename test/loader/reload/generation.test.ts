import t from 'tap'
import { isReloadable } from '../../../loader/reload/generation.js'
import { ownFrames } from '../../../cli/pretty/own-frames.js'
import { pathsOf } from '../../structure.js'

const ROOT = new URL('../../../../', import.meta.url)
/** Where authors work in a checkout, too, and what runs in a browser. */
const OF_AUTHORS = ['tools', 'resources', 'prompts', 'examples', 'console']

t.test(
  'every folder and file of the gateway itself is known as such: it is not reloaded, and its frames are not shown',
  async t => {
    const entry = new URL('build/cli.js', ROOT).href
    for (const path of pathsOf().filter(path => !OF_AUTHORS.includes(path.split('/')[0] ?? ''))) {
      t.notOk(isReloadable(new URL(path, ROOT).href, entry), path)
      t.strictSame(
        ownFrames(
          `Error: x\n    at f (${new URL(path, ROOT).pathname}:1:1)\n    at mine (/home/me/tools/a.ts:2:2)`,
          '/home/me'
        ),
        ['at mine (tools/a.ts:2:2)'],
        path
      )
    }
    t.ok(isReloadable(new URL('tools/calculate.ts', ROOT).href, entry), 'a tool is')
  }
)
