import { SettingsError } from '../settings/source.js'

type StartError = NodeJS.ErrnoException & { port?: number, address?: string }

/** What kept the command from starting, one sentence for each mistake. */
export function describeStartError (error: Error, stdio: boolean): string[] {
  return error instanceof SettingsError ? error.mistakes : [describe(error, stdio)]
}

function describe ({ code, message, port, address }: StartError, stdio: boolean): string {
  if (code === 'EADDRINUSE' && port !== undefined) return `port ${port} on ${address} is in use; choose another with --port or PATCHBAY_PORT${stdio ? SECOND : ''}`
  if (code === 'EACCES' && port !== undefined) return `port ${port} may not be used by this user; choose another with --port or PATCHBAY_PORT`
  return message.split(/\s*\n\s*/).join('; ')
}

const SECOND = '; if two clients launch this command, give each its own port, or only --stdio'
