import { createInterface } from 'node:readline'
import { visible } from '../../lib/one-line.js'
import { openBrowser } from '../../system/programs/open-browser.js'
import { takeValue, takeWord } from '../settings/arguments.js'
import type { Command } from './command.js'
import { findServer, ownerFor, withServers, type ServerEntry, type Servers } from './with-servers.js'

/** How long a person may take to sign in, in milliseconds. */
const LONGEST = 15 * 60_000

type State = Awaited<ReturnType<Servers['upstreams']['signIns']['states']>>[number]

/** `patchbay login`. */
export const command: Command = {
  help: `Usage: patchbay login [NAME] [--no-browser] [--as CALLER] [OPTION]...

Signs you in to an upstream server that wants it (OAuth), and stores the sign-in
for the gateway, sealed; one that runs with the same data folder or Redis takes
it over by itself. Opens a browser, and prints the address to open elsewhere:
then paste the address that the browser ends at. --no-browser only prints it.

A server with "auth": "caller" has a sign-in for each caller: --as names the one
that it is for, such as key:alice. Without --as, it is for the client on stdio.

Without a name, prints which servers need a sign-in, and which have one. The
options are those of patchbay serve.

For example: patchbay login linear --mcp-config .mcp.json
`,
  run: async argv => {
    const { value: caller, rest: words } = takeValue(argv.filter(word => word !== '--no-browser'), '--as')
    const { word: name, rest } = takeWord(words)
    const mayOpen = !argv.includes('--no-browser') && process.stdout.isTTY
    await withServers(rest, async servers => {
      const why = servers.upstreams.signIns.whyNot()
      if (why !== undefined) throw new Error(why)
      if (name === undefined) return await list(servers)
      const entry = findServer(servers.entries, name)
      return await signIn(servers, entry, mayOpen, ownerFor(entry, caller))
    })
  }
}

async function list ({ upstreams, entries, signal }: Servers): Promise<number> {
  const states = await upstreams.signIns.states(entries, signal)
  const width = Math.max(0, ...states.map(({ alias }) => alias.length))
  const lines = states.map(state => `${state.alias.padEnd(width)}  ${describe(state)}`)
  print(lines.length === 0 ? 'No server wants a sign-in: none has a URL without the header Authorization.' : lines.join('\n'))
  return 0
}

function describe ({ alias, state, why, issuer, scopes = [], expiresAt, isRenewable = false, callers }: State): string {
  if (callers !== undefined) return `each caller signs in; ${callers === 0 ? 'none has' : `so many have: ${callers}`}`
  const reason = why === undefined ? '' : ` (${why})`
  if (state === 'needs none') return 'needs none'
  if (state === 'unknown') return `could not be asked${reason}`
  if (state === 'needs sign-in') return `needs a sign-in${reason}: patchbay login ${alias}`
  const until = isRenewable
    ? 'renewed by itself'
    : expiresAt === undefined ? 'without an end' : `until ${new Date(expiresAt).toISOString()}`
  return [`signed in at ${issuer ?? ''}`, ...(scopes.length > 0 ? [`scopes ${scopes.join(' ')}`] : []), until].join(', ')
}

async function signIn (
  { upstreams, signal }: Servers,
  entry: ServerEntry,
  mayOpen: boolean,
  owner: string
): Promise<number> {
  const { alias } = entry
  const input = createInterface({ input: process.stdin })
  const late = AbortSignal.timeout(LONGEST)
  try {
    const { issuer, scopes, isRenewable } = await upstreams.signIns.signIn(entry, {
      show: url => {
        const isOpened = mayOpen && openBrowser(new URL(url))
        print(`${isOpened ? 'A browser was opened. If not, open this address' : 'Open this address in a browser'}:\n\n${url}\n`)
        if (process.stdin.isTTY) print('If it ends at an address of 127.0.0.1 that cannot be shown, paste that address here:')
      },
      tell: sentence => { process.stderr.write(`patchbay: ${visible(sentence)}\n`) },
      pasted: input,
      signal: AbortSignal.any([signal, late])
    }, owner)
    const granted = scopes.length === 0 ? '' : ` with the scopes ${scopes.join(' ')}`
    print(`Signed in to ${alias} at ${issuer}${granted}.`)
    print(isRenewable ? 'It is renewed by itself.' : 'It cannot be renewed by itself: sign in again when it has expired.')
    print('A gateway that runs uses it from now on. To undo it: patchbay logout ' + alias)
    return 0
  } catch (error) {
    if (late.aborted) throw new Error(`no one signed in within ${LONGEST / 60_000} minutes; run the command again`)
    const { message } = error as Error
    throw new Error((error as Error).name === 'SignInFailed' && /^(is|has|needs|does) /.test(message) ? `${alias} ${message}` : message)
  } finally {
    input.close()
  }
}

const print = (text: string): void => { process.stdout.write(`${visible(text)}\n`) }
