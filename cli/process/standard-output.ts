import type { Writable } from 'node:stream'

/** Returns standard output, which belongs to the stdio transport. What plugins print to `process.stdout` goes to standard error. */
export function claimStandardOutput (): Writable {
  const { stdout, stderr } = process
  Object.defineProperty(process, 'stdout', { get: () => stderr })
  return stdout
}
