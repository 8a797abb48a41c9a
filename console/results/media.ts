/** Larger images and sounds are only saved, not shown. */
const MAX_SHOWN = 16_777_216

const IMAGES = new Set(['image/png', 'image/jpeg', 'image/gif', 'image/webp', 'image/avif', 'image/svg+xml'])
const SOUNDS = new Set([
  'audio/wav',
  'audio/x-wav',
  'audio/wave',
  'audio/mpeg',
  'audio/mp3',
  'audio/ogg',
  'audio/webm',
  'audio/mp4',
  'audio/aac',
  'audio/flac'
])

type Media = 'image' | 'audio' | 'file'

/**
 * How bytes of a type are shown. SVG is an image like others: in `<img>` its scripts do not run and it fetches nothing.
 */
export function mediaOf (type: string, size: number): Media {
  const bare = bareType(type)
  if (size > MAX_SHOWN) return 'file'
  return IMAGES.has(bare) ? 'image' : SOUNDS.has(bare) ? 'audio' : 'file'
}

/** The type without parameters, such as `image/png`. */
export const bareType = (type: string): string => type.split(';', 1)[0]?.trim().toLowerCase() ?? ''

/** How many bytes a base64 text stands for, without decoding it. */
export function decodedSize (base64: string): number {
  const padding = base64.endsWith('==') ? 2 : base64.endsWith('=') ? 1 : 0
  return Math.max(0, Math.floor(base64.length * 3 / 4) - padding)
}

/** The bytes of a base64 text; undefined when it is none. */
export function decode (base64: string): Uint8Array<ArrayBuffer> | undefined {
  try {
    return Uint8Array.from(atob(base64), character => character.charCodeAt(0))
  } catch {
    return undefined
  }
}
