import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto'

const IV = 12
const TAG = 16

/**
 * Values handed to clients for safe keeping: they can neither be read nor altered, and each is good for one purpose
 * only.
 */
export class Sealer {
  #key: Buffer
  #earlier: Buffer | undefined

  /** Gateways that share a secret understand each other's tokens; without one, tokens live as long as the process. */
  constructor (secret?: string) {
    this.#key = secret === undefined ? randomBytes(32) : keyOf(secret)
  }

  /** Seals with another secret from now on. What was sealed before can still be opened here. */
  replaceSecret (secret: string): void {
    const key = keyOf(secret)
    if (key.equals(this.#key)) return
    this.#earlier = this.#key
    this.#key = key
  }

  seal (purpose: string, value: unknown): string {
    const iv = randomBytes(IV)
    const cipher = createCipheriv('aes-256-gcm', this.#key, iv).setAAD(Buffer.from(purpose))
    const body = Buffer.concat([cipher.update(JSON.stringify(value)), cipher.final()])
    return Buffer.concat([iv, cipher.getAuthTag(), body]).toString('base64url')
  }

  /** The value, or undefined when the token is not one of ours, was altered or was made for something else. */
  open (purpose: string, token: string): unknown {
    const bytes = Buffer.from(token, 'base64url')
    // Base64 decoding skips what it does not know, so the round trip must give the same text.
    if (bytes.length <= IV + TAG || bytes.toString('base64url') !== token) return undefined
    const value = open(this.#key, purpose, bytes)
    return value === undefined && this.#earlier !== undefined ? open(this.#earlier, purpose, bytes) : value
  }
}

const keyOf = (secret: string): Buffer => Buffer.from(hkdfSync('sha256', secret, '', 'patchbay tokens', 32))

function open (key: Buffer, purpose: string, bytes: Buffer): unknown {
  try {
    const decipher = createDecipheriv('aes-256-gcm', key, bytes.subarray(0, IV))
      .setAAD(Buffer.from(purpose))
      .setAuthTag(bytes.subarray(IV, IV + TAG))
    return JSON.parse(Buffer.concat([decipher.update(bytes.subarray(IV + TAG)), decipher.final()]).toString())
  } catch {
    return undefined
  }
}
