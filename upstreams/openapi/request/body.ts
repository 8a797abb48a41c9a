import { randomToken } from '../../../lib/random-token.js'
import type { Part, RequestBody } from '../document/bodies.js'
import { encode, plain, queryPairs } from './styles.js'

/** A body and its media type. */
export interface Encoded { readonly body: string | Buffer, readonly contentType: string }

const EXPLODED = { style: 'form', explode: true, allowReserved: false } as const

/** The bytes of a body. Throws in words where its value has no such form. */
export function encodeBody ({ kind, mediaType, parts }: RequestBody, value: unknown): Encoded {
  switch (kind) {
    case 'json': return { body: JSON.stringify(value), contentType: mediaType }
    case 'text': return { body: plain(value), contentType: mediaType }
    case 'bytes': return { body: bytesOf('the body', value), contentType: mediaType }
    case 'form': return { body: formOf(value, parts), contentType: mediaType }
    case 'multipart': return multipart(value, parts, mediaType)
  }
}

const membersOf = (value: unknown): Array<[string, unknown]> => {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw new Error('the body must be an object')
  return Object.entries(value).filter(([, member]) => member !== undefined && member !== null)
}

function formOf (value: unknown, parts: ReadonlyMap<string, Part>): string {
  return membersOf(value).flatMap(([name, member]) => {
    const style = parts.get(name)?.style
    if (style !== undefined) return queryPairs(name, member, style)
    return Array.isArray(member) ? queryPairs(name, member, EXPLODED) : [`${encode(name)}=${encode(plain(member))}`]
  }).join('&')
}

function multipart (value: unknown, parts: ReadonlyMap<string, Part>, mediaType: string): Encoded {
  const boundary = `patchbay-${randomToken(12, 'hex')}`
  const chunks: Array<string | Buffer> = membersOf(value).flatMap(([name, member]) => {
    const part = parts.get(name)
    const items: unknown[] = Array.isArray(member) ? member : [member]
    return items.flatMap(item => [`--${boundary}\r\n${headOf(name, item, part)}\r\n\r\n`, contentOf(name, item, part), '\r\n'])
  })
  const body = Buffer.concat([...chunks, `--${boundary}--\r\n`].map(chunk => Buffer.from(chunk as string)))
  return { body, contentType: `${mediaType.split(';')[0] ?? ''}; boundary=${boundary}` }
}

/** Line breaks and quotes in names are encoded as browsers do it. */
const inQuotes = (name: string): string =>
  name.replace(/[\r\n"]/g, letter => encodeURIComponent(letter))

function headOf (name: string, value: unknown, part: Part | undefined): string {
  const disposition = `Content-Disposition: form-data; name="${inQuotes(name)}"`
  const type = part?.contentType ?? (part?.isFile === true
    ? 'application/octet-stream'
    : typeof value === 'object' ? 'application/json' : undefined)
  return [
    part?.isFile === true ? `${disposition}; filename="${inQuotes(name)}"` : disposition,
    ...(type === undefined ? [] : [`Content-Type: ${type}`])
  ].join('\r\n')
}

const contentOf = (name: string, value: unknown, part: Part | undefined): string | Buffer =>
  part?.isFile === true ? bytesOf(name, value) : plain(value)

function bytesOf (name: string, value: unknown): Buffer {
  if (typeof value !== 'string' || !/^[A-Za-z0-9+/_-]*={0,2}\s*$/.test(value)) throw new Error(`${name} must be base64`)
  return Buffer.from(value, 'base64')
}
