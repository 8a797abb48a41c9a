import { isMcpError } from '../../protocol/wire/errors.js'
import { isObject } from '../../protocol/wire/json.js'
import type { Invocation } from './invocation.js'
import { shownInLine } from './terminal.js'

/** The exit codes of commands that ask a server. Wrong words end a command with 1, as in every command. */
export const EXIT = { done: 0, failed: 1, refused: 2, notReached: 3 } as const

/** The server does not answer any more, or not in time. */
export class NoAnswer extends Error {
  override readonly name = 'NoAnswer'
}

/** A failure in sentences, and the exit code. */
export interface Failure { readonly code: number, readonly lines: readonly string[] }

type Asked = Pick<Invocation, 'target' | 'isOwnGateway' | 'address'>

const UPSTREAM = 'The upstream server the server '

/**
 * Says what went wrong while a server was asked; plain errors are mistakes in the words of the command line. A program
 * that was lost had written `lastLines` for people.
 */
export function explain (error: unknown, asked: Asked, lastLines: readonly string[] = []): Failure {
  if (error instanceof NoAnswer) return { code: EXIT.notReached, lines: [error.message] }
  if (isMcpError(error)) return explainAnswer(error.code, error.message, error.data, lastLines)
  if (!(error instanceof Error)) return { code: EXIT.failed, lines: [shownInLine(String(error))] }
  if (error.name === 'NotReached') {
    const { lines } = error as Error & { readonly lines: readonly string[] }
    return { code: EXIT.notReached, lines: [notReached(plainly(error.message), asked), ...quote(lines)] }
  }
  return { code: EXIT.failed, lines: error.message.split('\n').map(shownInLine) }
}

const quote = (lines: readonly string[]): string[] => lines.map(line => `| ${shownInLine(line)}`)

/** Errors of our own side of the connection name the server as `the server`, which no server is called. */
function explainAnswer (code: number, message: string, data: unknown, lastLines: readonly string[]): Failure {
  if (isObject(data) && data.upstream === 'the server' && message.startsWith(UPSTREAM)) {
    return { code: EXIT.notReached, lines: [shownInLine(plainly(message)), ...quote(lastLines)] }
  }
  const more = data === undefined ? [] : [`data: ${shownInLine(JSON.stringify(data))}`]
  return { code: EXIT.refused, lines: [shownInLine(`the server answered with error ${code}: ${message}`), ...more] }
}

const plainly = (message: string): string =>
  message
    .replace(/^The upstream server the server (?:failed|is not available): (?:it )?/, 'the server failed: it ')
    .replace(/^The upstream server the server /, 'the server ')
    .replaceAll('"headers" of this server', '--key or --header')
    .replaceAll('"url" of this server', 'the URL')

/** The way to servers that take a sign-in alone, which belongs to a gateway. */
const SIGN_IN =
  '; for a server that wants a sign-in (OAuth), run patchbay add NAME URL and patchbay login NAME: the gateway then has its tools as NAME__TOOL'

function notReached (message: string, { target, isOwnGateway, address }: Asked): string {
  const why = shownInLine(message)
  const [, status] = /^it answered with status (\d{3})/.exec(message) ?? []
  if (isOwnGateway && message.startsWith('the connection was refused')) {
    return `no gateway answers at ${target}; start one with "patchbay", or name a server: --url URL, or -- COMMAND`
  }
  if (status === '401') {
    const isGiven = address.kind !== 'stdio' && Object.keys(address.headers).some(name => /^authorization$/i.test(name))
    return isGiven
      ? `${target} does not accept this credential (status 401); see --key FILE, PATCHBAY_KEY or --header`
      : `${target} needs a credential (status 401): name a file with a key by --key FILE, or set PATCHBAY_KEY for the gateway of this machine${isOwnGateway ? '' : SIGN_IN}`
  }
  return `${target} could not be asked: ${why}`
}
