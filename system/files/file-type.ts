import { isUtf8 } from 'node:buffer'
import mime from 'mime'

// Extensions of text files that have another media type in the registry.
const TEXTS = /\.(conf|ini|log|[mc]?ts|rs|scm|org|dart|dts|bat)$/i

/** The media type by the name of a file; undefined if it is not known. */
export function typeByName (path: string): string | undefined {
  return TEXTS.test(path) ? 'text/plain' : mime.getType(path) ?? undefined
}

/** The media type of a file, and its bytes as text if they are UTF-8 without NUL. */
export function detectType (path: string, bytes: Buffer): { mimeType: string, text?: string } {
  if (isUtf8(bytes) && !bytes.includes(0)) return { mimeType: typeByName(path) ?? 'text/plain', text: bytes.toString() }
  return { mimeType: mime.getType(path) ?? 'application/octet-stream' }
}
