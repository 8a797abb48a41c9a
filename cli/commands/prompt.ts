import { didYouMean } from '../../lib/nearest-name.js'
import { isObject } from '../../protocol/wire/json.js'
import { ask, type Asking } from '../ask/ask.js'
import { describePrompt, promptFields, table } from '../ask/describe.js'
import { EXIT } from '../ask/failure.js'
import { SERVERS } from '../ask/help.js'
import { asksAboutWord, readInvocation, readText, type Invocation } from '../ask/invocation.js'
import { parseObject, readArguments } from '../ask/read-arguments.js'
import { textOfBlocks } from '../ask/show-result.js'
import { shownInLine } from '../ask/terminal.js'
import type { Command } from './command.js'

const FLAGS = { json: { type: 'string' } } as const

/** `patchbay prompt`. */
export const command: Command = {
  help: `Usage: patchbay prompt [NAME [KEY=VALUE]...] [OPTION]... [-- COMMAND ARGS]

Prints the messages of a prompt; without a name, the prompts of the server.
KEY=@FILE is the text of a file, KEY=@@TEXT is @TEXT itself, and --json '{…}'
has all arguments. patchbay prompt NAME --help prints those of the prompt.

${SERVERS}

Ends like patchbay call.

For example: patchbay prompt greeting name=Ada
`,
  answersHelp: argv => asksAboutWord(argv, FLAGS),
  run: async argv => {
    const invocation = readInvocation(argv, FLAGS, process.env, process.cwd())
    const json = invocation.values['json'] as string | undefined
    const given = json === undefined ? {} : parseObject(json, '--json')
    await ask(invocation, async asking => await printPrompt(asking, invocation, given))
  }
}

async function printPrompt (
  { client, signal, format, isForPeople, columns, notes, print }: Asking,
  { words: [name, ...words], help }: Invocation,
  given: Record<string, unknown>
): Promise<number> {
  const prompts = await client.list('prompts', signal)
  if (name === undefined) {
    if (format === 'text' && prompts.length === 0) notes.say('The server has no prompts.')
    await print(format === 'json' ? `${JSON.stringify(prompts)}\n` : table(prompts, 'name', columns))
    return EXIT.done
  }
  const prompt = prompts.find(entry => entry.name === name)
  if (prompt === undefined) {
    throw new Error(
      `there is no prompt "${name}"${didYouMean(name, prompts.map(entry => String(entry['name']))) || '; patchbay prompt lists them'}`
    )
  }
  if (help) {
    await print(describePrompt(prompt, columns))
    return EXIT.done
  }
  const file = (path: string): string => readText('an argument', path, process.cwd())
  const args = readArguments(words, given, promptFields(prompt['arguments']), { file })
  const result = await client.request('prompts/get', { name, arguments: args }, signal)
  notes.clear()
  await print(format === 'json' ? `${JSON.stringify(result)}\n` : textOfMessages(result['messages'], isForPeople))
  return EXIT.done
}

function textOfMessages (messages: unknown, isForPeople: boolean): string {
  return (Array.isArray(messages) ? messages : []).filter(isObject).map(({ role, content }) =>
    `${shownInLine(String(role))}: ${textOfBlocks(content, isForPeople).text}\n`
  ).join('')
}
