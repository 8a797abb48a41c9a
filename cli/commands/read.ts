import { ask, type Asking } from '../ask/ask.js'
import { table } from '../ask/describe.js'
import { EXIT } from '../ask/failure.js'
import { SERVERS } from '../ask/help.js'
import { readInvocation } from '../ask/invocation.js'
import { checkOut, writeOut } from '../ask/out-file.js'
import { describeFile, partsOf } from '../ask/show-result.js'
import { shown, shownInLine } from '../ask/terminal.js'
import type { Command } from './command.js'

/** `patchbay read`. */
export const command: Command = {
  help: `Usage: patchbay read [URI] [--out FILE] [OPTION]... [-- COMMAND ARGS]

Writes what a resource contains to standard output, or to a file with --out: as
bytes in a pipe; a terminal gets text only. --format json prints the whole
result. Without a URI, prints the resources and the templates of the server.

${SERVERS.replace(/\n *--format F[^]*$/, '')}

Ends like patchbay call.

For example: patchbay read file:///srv/notes.txt > notes.txt
`,
  run: async argv => {
    const invocation = readInvocation(argv, { out: { type: 'string' } }, process.env, process.cwd())
    const [uri, ...more] = invocation.words
    if (more.length > 0) throw new Error('patchbay read takes one URI')
    const out = invocation.values['out'] as string | undefined
    checkOut(out, process.cwd())
    await ask(invocation, async asking =>
      uri === undefined ? await printResources(asking) : await printResource(asking, uri, out, invocation.format === 'json')
    )
  }
}

async function printResources ({ client, signal, format, columns, notes, print }: Asking): Promise<number> {
  const resources = await client.list('resources', signal)
  const templates = await client.list('templates', signal)
  if (format === 'json') await print(`${JSON.stringify({ resources, resourceTemplates: templates })}\n`)
  else if (resources.length + templates.length === 0) notes.say('The server has no resources.')
  else await print(table(resources, 'uri', columns) + table(templates, 'uriTemplate', columns))
  return EXIT.done
}

async function printResource (
  { client, signal, notes, print }: Asking,
  uri: string,
  out: string | undefined,
  isJson: boolean
): Promise<number> {
  const result = await client.request('resources/read', { uri }, signal)
  notes.clear()
  const parts = partsOf(result['contents'])
  if (out !== undefined) {
    for (const path of writeOut(out, parts.map(({ bytes }) => bytes), process.cwd())) {
      notes.say(`patchbay: wrote ${shownInLine(path)}`)
    }
  } else if (isJson) await print(`${JSON.stringify(result)}\n`)
  else if (process.stdout.isTTY) {
    for (const part of parts) {
      await print(`${part.text === undefined ? `${describeFile(part)}; --out FILE writes it` : shown(part.text).replace(/\n$/, '')}\n`)
    }
  } else for (const { bytes } of parts) await print(bytes)
  return EXIT.done
}
