import { spawnSync } from 'node:child_process'
import t from 'tap'
import { announce, blocksOf, pages, runnable } from './blocks.js'
import { runInTerminal, type Ran } from './terminal.js'

const missing = ['bash', 'curl'].find(program => spawnSync(program, ['--version']).status !== 0)
const lacksRedis = spawnSync('redis-server', ['--version']).status !== 0

t.test(
  'every sh block of README and docs runs as printed',
  { skip: missing !== undefined && `there is no ${missing}`, timeout: 300_000 },
  async t => {
    const { blocks, marked } = runnable('sh')
    t.ok(blocks.length > 20)
    let count = 0
    for (const page of pages()) {
      const ofPage = blocks.filter(block => block.page === page)
      if (ofPage.length === 0) continue
      t.test(
        page,
        { skip: lacksRedis && ofPage.some(({ code }) => code.includes('redis-server')) && 'there is no redis-server' },
        async t => {
          const ran = await runInTerminal(
            t,
            ofPage,
            blocksOf(page).filter(({ file }) => file !== undefined)
          )
          count += ran.length
          for (const each of ran) t.equal(mistake(each), undefined, `${page}:${each.block.line}`)
          t.equal(ran.length, ofPage.length, 'all blocks were reached')
        }
      )
    }
    t.test('the count', async () => {
      announce(`${count} sh blocks ran, ${marked} are marked as not run`)
    })
  }
)

function mistake ({ block: { printed }, output, failure }: Ran): string | undefined {
  if (failure !== undefined) return `${failure}\n${output}`
  if (output !== '' && !output.endsWith('\n')) return `the prompt of the shell would stick to the end of ${output}`
  if (printed !== undefined) return matches(output, printed) ? undefined : `it printed\n${output}`
  return /"error":\{|"isError":true/.test(output) ? `an error is answered:\n${output}` : undefined
}

/** True where the output is the printed one, in which `…` stands for any text. */
function matches (output: string, printed: string): boolean {
  const pattern = printed.trim().split('…').map(part => part.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')).join('[^]*')
  return new RegExp(`^${pattern}$`).test(output.trim())
}
