import { isUtf8 } from 'node:buffer'
import mime from 'mime'

// Names that mean a text to nearly everybody, and something else in the register of types.
const TEXTS = /\.(conf|ini|log|[mc]?ts|rs|scm|org|dart|dts|bat)$/i

/** What kind of file this is, by its name alone; undefined when the name does not tell. */
export function typeByName (path: string): string | undefined {
  return TEXTS.test(path) ? 'text/plain' : mime.getType(path) ?? undefined
}

/** The bytes as text if they are one, untouched, and what kind of file they are. */
export function typed (path: string, bytes: Buffer): { mimeType: string, text?: string } {
  if (isUtf8(bytes) && !bytes.includes(0)) return { mimeType: typeByName(path) ?? 'text/plain', text: bytes.toString() }
  return { mimeType: mime.getType(path) ?? 'application/octet-stream' }
}
