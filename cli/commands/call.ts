import { buffer as readAll } from 'node:stream/consumers'
import { didYouMean } from '../../lib/nearest-name.js'
import { ask, type Asking } from '../ask/ask.js'
import { describeTool, type Listed } from '../ask/describe.js'
import { EXIT } from '../ask/failure.js'
import { SERVERS } from '../ask/help.js'
import { asksAboutWord, readInvocation, readText, textOf, type Invocation } from '../ask/invocation.js'
import { checkOut, writeOut } from '../ask/out-file.js'
import { parseObject, readArguments } from '../ask/read-arguments.js'
import { fieldsOf } from '../ask/shape.js'
import { describeFile, textOfResult } from '../ask/show-result.js'
import { shownInLine } from '../ask/terminal.js'
import type { Command } from './command.js'

const FLAGS = { json: { type: 'string' }, out: { type: 'string' } } as const

/** `patchbay call`. */
export const command: Command = {
  help: `Usage: patchbay call TOOL [KEY=VALUE]... [OPTION]... [-- COMMAND ARGS]

Calls a tool and prints its result: as text on a terminal, as one line of JSON
in a pipe. patchbay call TOOL --help prints the arguments of the tool.

  KEY=VALUE       an argument, read by the schema of the tool; repeat it for a
                  list
  KEY=@FILE       its value is the text of a file; KEY=@@TEXT is @TEXT itself
  KEY:=JSON       its value is JSON
  -               read all arguments as a JSON object from standard input
  --json JSON     all arguments as a JSON object
  --out FILE      write images, sounds and files of the result there, or its
                  text if it has none

${SERVERS}

Ends with 0; with 1 if the tool failed (isError) or the words are wrong; with 2
if the server answered with an error; with 3 if it could not be reached or did
not answer in time; with 130 after Ctrl-C, which cancels the call.

For example: patchbay call calculate operation=add a=1 b=2
`,
  answersHelp: argv => asksAboutWord(argv, FLAGS),
  run: async argv => {
    const invocation = readInvocation(argv, FLAGS, process.env, process.cwd())
    const [name, ...words] = invocation.words
    if (name === undefined) throw new Error('patchbay call needs the name of a tool; patchbay tools lists them')
    const out = invocation.values['out'] as string | undefined
    checkOut(out, process.cwd())
    const given = invocation.help ? {} : await givenAsJson(invocation)
    await ask(invocation, async asking => await callTool(asking, name, {
      given,
      words: words.filter(word => word !== '-'),
      help: invocation.help,
      out
    }))
  }
}

/** The arguments that are written as one JSON object, on the command line or on standard input. */
async function givenAsJson ({ words, values }: Invocation): Promise<Record<string, unknown>> {
  const json = values['json'] as string | undefined
  if (!words.includes('-')) return json === undefined ? {} : parseObject(json, '--json')
  if (json !== undefined) throw new Error('- and --json are two sets of arguments; leave one of them out')
  if (process.stdin.isTTY) throw new Error('- reads JSON from standard input: pipe it in')
  return parseObject(textOf(await readAll(process.stdin), 'standard input'), 'standard input')
}

interface Wanted {
  readonly given: Record<string, unknown>
  readonly words: readonly string[]
  readonly help: boolean
  readonly out: string | undefined
}

async function callTool (asking: Asking, name: string, { given, words, help, out }: Wanted): Promise<number> {
  const { client, signal, columns, notes, print } = asking
  const tools = await client.list('tools', signal)
  const tool = tools.find(entry => entry.name === name)
  if (help) {
    if (tool === undefined) throw new Error(`there is no tool "${name}"${hintFor(name, tools)}`)
    await print(describeTool(tool, columns))
    return EXIT.done
  }
  const file = (path: string): string => readText('an argument', path, process.cwd())
  const args = readArguments(words, given, fieldsOf(tool?.inputSchema), { file })
  // A tool that is not listed may be there: a view with a search lists few.
  const result = await client.callTool(name, args, tool, signal).catch((error: unknown) => {
    if (tool === undefined) notes.say(`patchbay: the server does not list a tool "${name}"${hintFor(name, tools)}`)
    throw error
  })
  notes.clear()
  await printResult(asking, result, out)
  if (result['isError'] !== true) return EXIT.done
  if (asking.isForPeople) notes.say('patchbay: the tool says that it failed')
  return EXIT.failed
}

const hintFor = (name: string, tools: readonly Listed[]): string =>
  shownInLine(didYouMean(name, tools.map(tool => String(tool['name'])))) || '; patchbay tools lists them'

async function printResult (
  { format, isForPeople, notes, print }: Asking,
  result: Readonly<Record<string, unknown>>,
  out: string | undefined
): Promise<void> {
  const { text, files } = textOfResult(result, isForPeople)
  if (out !== undefined) {
    const contents = files.length === 0 ? [textOfResult(result, false).text] : files.map(({ bytes }) => bytes)
    for (const [index, path] of writeOut(out, contents, process.cwd()).entries()) {
      const what = files[index] === undefined ? 'its text' : describeFile(files[index])
      notes.say(`patchbay: wrote ${what} to ${shownInLine(path)}`)
    }
    if (files.length === 0) return
  } else if (isForPeople && files.length > 0) notes.say('patchbay: --out FILE writes what is not text')
  if (format === 'json') await print(`${JSON.stringify(result)}\n`)
  else if (text !== '') await print(text.endsWith('\n') ? text : `${text}\n`)
}
