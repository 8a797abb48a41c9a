import t from 'tap'
import { build, tool } from '../../app.js'

t.test('registering an explosive pattern logs a warning with the name of its tool or command', async t => {
  const lines: string[] = []
  const app = await build(
    { commands: { node: { program: process.execPath, args: ['^(a+)+$', '^[a-z]+$'] } } },
    {
      logger: {
        level: 'warn',
        stream: {
          write: (line: string) => {
            lines.push(line)
          }
        }
      }
    }
  )
  t.teardown(async () => await app.close())
  app.mcp.tools.add(
    tool({
      name: 'careless',
      description: 'x',
      input: { type: 'object', properties: { mail: { type: 'string', pattern: '^(\\w+\\s?)*$' } } },
      run: () => 'x'
    })
  )
  app.mcp.tools.add(
    tool({
      name: 'careful',
      description: 'x',
      input: { type: 'object', properties: { slug: { type: 'string', pattern: '^[a-z0-9]+(-[a-z0-9]+)*$' } } },
      run: () => 'x'
    })
  )
  const warned = lines
    .map(line => JSON.parse(line) as Record<string, unknown>)
    .map(({ tool, command, pattern }) => ({ tool, command, pattern }))
  t.strictSame(warned, [
    { tool: undefined, command: 'node', pattern: '^(a+)+$' },
    { tool: 'careless', command: undefined, pattern: '^(\\w+\\s?)*$' }
  ])
  t.match(lines.join(''), /take for ever/)
})
