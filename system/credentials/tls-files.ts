import { readFileSync } from 'node:fs'
import { createSecureContext } from 'node:tls'

/** The names of two PEM files: the private key, and the certificate with those that it was signed with. */
export interface TlsFiles { key: string, cert: string }

/** Reads the key and the certificate of a server. Throws a sentence if they cannot be read or do not fit each other. */
export function readTls (files: TlsFiles): { key: Buffer, cert: Buffer } {
  const read = (name: keyof TlsFiles): Buffer => {
    try {
      return readFileSync(files[name])
    } catch (error) {
      throw new Error(`option tls.${name} names a file that cannot be read: ${(error as Error).message}`, { cause: error })
    }
  }
  const pair = { key: read('key'), cert: read('cert') }
  try {
    createSecureContext(pair)
  } catch (error) {
    throw new Error(`option tls: ${files.key} and ${files.cert} must be the private key and the certificate of this server, as PEM without a password (${(error as Error).message})`, { cause: error })
  }
  return pair
}
