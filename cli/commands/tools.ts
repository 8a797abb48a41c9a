import { fitsGlob } from '../../lib/glob.js'
import { didYouMean } from '../../lib/nearest-name.js'
import { ask, type Asking } from '../ask/ask.js'
import { describeTool, table, type Listed } from '../ask/describe.js'
import { EXIT } from '../ask/failure.js'
import { SERVERS } from '../ask/help.js'
import { readInvocation } from '../ask/invocation.js'
import type { Command } from './command.js'

/** `patchbay tools`. */
export const command: Command = {
  help: `Usage: patchbay tools [NAME | PATTERN] [OPTION]... [-- COMMAND ARGS]

Prints the tools of a server, each with the first sentence of its description;
of one tool, its arguments. A pattern has * and ?, or is a part of a name.
--json prints JSON, like --format json.

${SERVERS}

For example: patchbay tools --url https://example.com/mcp
`,
  run: async argv => {
    const given = readInvocation(argv, { json: { type: 'boolean' } }, process.env, process.cwd())
    const [pattern, ...more] = given.words
    if (more.length > 0) throw new Error('patchbay tools takes one name or pattern; put a pattern with * in quotes')
    const invocation = given.values['json'] === true ? { ...given, format: 'json' as const } : given
    await ask(invocation, async asking => await printTools(asking, pattern))
  }
}

async function printTools (
  { client, signal, format, columns, notes, print }: Asking,
  pattern: string | undefined
): Promise<number> {
  const tools = await client.list('tools', signal)
  const one = tools.find(({ name }) => name === pattern)
  if (one !== undefined) {
    await print(format === 'json' ? `${JSON.stringify(one)}\n` : describeTool(one, columns))
    return EXIT.done
  }
  const found = pattern === undefined ? tools : tools.filter(tool => isMeant(tool, pattern))
  if (found.length === 0 && pattern !== undefined) {
    throw new Error(`no tool is called like "${pattern}"${didYouMean(pattern, tools.map(({ name }) => String(name)))}`)
  }
  if (format === 'text' && found.length === 0) notes.say('The server has no tools.')
  await print(format === 'json' ? `${JSON.stringify(found)}\n` : table(found, 'name', columns))
  return EXIT.done
}

const isMeant = ({ name }: Listed, pattern: string): boolean =>
  typeof name === 'string' &&
  (fitsGlob(pattern.toLowerCase(), name.toLowerCase()) ||
    (!/[*?]/.test(pattern) && name.toLowerCase().includes(pattern.toLowerCase())))
