import type { Params } from '../../protocol/wire/jsonrpc.js'
import { ask, type Asking } from '../ask/ask.js'
import { EXIT, NoAnswer } from '../ask/failure.js'
import { SERVERS } from '../ask/help.js'
import { readInvocation } from '../ask/invocation.js'
import { shownInLine } from '../ask/terminal.js'
import { hasFeed, WatchLines } from '../ask/watch-lines.js'
import type { Command } from './command.js'

/** `patchbay watch`. */
export const command: Command = {
  help: `Usage: patchbay watch [URI]... [OPTION]... [-- COMMAND ARGS]

Prints what a server announces until Ctrl-C, one line each: changed lists, log
messages, and changes of the resources that are named. A Patchbay also tells a
caller with the scope admin which calls end, and how its upstream servers are.
In a pipe, or with --json, each line is a notification as JSON.

${SERVERS}

Ends like patchbay call.

For example: patchbay watch test://text --port 9000
`,
  run: async argv => {
    const given = readInvocation(argv, { json: { type: 'boolean' } }, process.env, process.cwd())
    const invocation = given.values['json'] === true ? { ...given, format: 'json' as const } : given
    await ask(invocation, async asking => await watch(asking, invocation.words))
  }
}

async function watch ({ client, signal, format, notes, print }: Asking, uris: readonly string[]): Promise<number> {
  const lines = new WatchLines()
  const tell = (method: string, params: Params): void => {
    const time = new Date().toTimeString().slice(0, 8)
    const said = format === 'json'
      ? [JSON.stringify({ method, params })]
      : lines.linesOf(method, params).map(line => `${time} ${line}`)
    for (const line of said) void print(`${line}\n`)
  }
  notes.onLog = params => tell('notifications/message', params)
  const ended = new Promise<never>((_resolve, reject) => {
    client.onClose(why => reject(new NoAnswer(`the connection has ended: ${shownInLine(why.message)}`)))
    signal.addEventListener('abort', () => reject(signal.reason), { once: true })
  })
  ended.catch(() => {})
  await client.listen(uris, signal, tell)
  if (format === 'text') notes.say('Watching; Ctrl-C ends it.')
  if (hasFeed(client.capabilities)) {
    await Promise.race([client.request('patchbay/watch', {}, signal), ended])
    throw new NoAnswer('the gateway has ended the watch')
  }
  await ended
  return EXIT.done
}
