import { createPrivateKey, X509Certificate, type KeyObject } from 'node:crypto'
import { readFileSync, statSync } from 'node:fs'
import { createSecureContext } from 'node:tls'

/** The names of two PEM files: the private key, and the certificate with those that it was signed with. */
export interface TlsFiles { key: string, cert: string }

/**
 * Reads the key and the certificate of a server. Throws a sentence that names the file at fault, also if they do not
 * belong together.
 */
export function readTls (files: TlsFiles): { key: Buffer, cert: Buffer } {
  const pair = { key: read(files, 'key'), cert: read(files, 'cert') }
  const key = parseKey(files.key, pair.key)
  const certificate = parse(
    `option tls.cert: ${files.cert} must be a certificate as PEM`,
    () => new X509Certificate(pair.cert)
  )
  // TLS itself refuses another key only if it is of the same kind; with one of another kind every handshake would fail.
  if (!certificate.checkPrivateKey(key)) {
    throw new Error(
      `option tls: the private key in ${files.key} does not belong to the certificate in ${files.cert}; name the key that the certificate was made for`
    )
  }
  parse(`option tls: ${files.key} and ${files.cert} cannot be used for TLS`, () => createSecureContext(pair))
  return pair
}

function read (files: TlsFiles, name: keyof TlsFiles): Buffer {
  const content = parse(`option tls.${name} names a file that cannot be read`, () => {
    // A device or a pipe may never end.
    if (!statSync(files[name]).isFile()) throw new Error(`${files[name]} is no regular file`)
    return readFileSync(files[name])
  })
  if (content.length === 0) throw new Error(`option tls.${name}: ${files[name]} is empty`)
  return content
}

function parseKey (file: string, pem: Buffer): KeyObject {
  try {
    return createPrivateKey(pem)
  } catch (error) {
    const encrypted = /ENCRYPTED/.test(pem.toString('latin1'))
    throw new Error(encrypted
      ? `option tls.key: ${file} is encrypted; remove the password: openssl pkey -in ${file} -out NEW_FILE`
      : `option tls.key: ${file} must be a private key as PEM (${(error as Error).message})`, { cause: error })
  }
}

function parse<T> (fault: string, attempt: () => T): T {
  try {
    return attempt()
  } catch (error) {
    throw new Error(`${fault}: ${(error as Error).message}`, { cause: error })
  }
}
