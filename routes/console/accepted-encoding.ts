export type Encoding = 'br' | 'gzip'

/** A weight from 0 to 1. https://www.rfc-editor.org/rfc/rfc9110#section-12.4.2 */
const WEIGHT = /^q=(0(?:\.\d*)?|1(?:\.0*)?)$/

/** The encoding of the reply to a request with this `Accept-Encoding`: the one with the greater weight, of two the smaller; undefined if neither is accepted. */
export function encodingFor (accepted: string | string[] | undefined): Encoding | undefined {
  const weights = new Map(String(accepted ?? '').toLowerCase().split(',').map(weighed))
  const [br, gzip] = (['br', 'gzip'] as const).map(name => weights.get(name) ?? weights.get('*') ?? 0) as [number, number]
  if (br === 0 && gzip === 0) return undefined
  return br >= gzip ? 'br' : 'gzip'
}

/** The name in one part of the header and its weight: 1 without one, 0 for one that is malformed. */
function weighed (part: string): [name: string, weight: number] {
  const [name = '', weight] = part.split(';').map(word => word.trim())
  return [name, weight === undefined ? 1 : Number(WEIGHT.exec(weight)?.[1] ?? 0)]
}
