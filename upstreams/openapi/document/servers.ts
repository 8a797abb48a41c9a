import { isObject } from '../../../protocol/wire/json.js'
import { listOf, type Json } from './references.js'

/** The longest URL of a server. */
const MAX_URL = 2_048

/**
 * The URL of the first server that a part of a document names, with the defaults of its variables; relative ones are
 * resolved against `base`. Undefined where it names none that can be used.
 */
export function serverOf (part: Json, base: string | undefined): URL | undefined {
  const [first] = listOf(part['servers'])
  if (!isObject(first) || typeof first['url'] !== 'string' || first['url'].length > MAX_URL) return undefined
  const variables = isObject(first['variables']) ? first['variables'] : {}
  const text = first['url'].replace(/\{([^{}]*)\}/g, (whole: string, name: string) => {
    const variable = Object.hasOwn(variables, name) ? variables[name] : undefined
    return isObject(variable) && typeof variable['default'] === 'string' ? variable['default'] : whole
  })
  return urlOf(text, base)
}

/** The URL of an API with a document of Swagger 2.0. */
export function swaggerServer ({ schemes, host, basePath }: Json, base: string | undefined): URL | undefined {
  const path = typeof basePath === 'string' ? basePath : '/'
  if (typeof host !== 'string') return urlOf(path, base)
  const named = listOf(schemes).filter(scheme => scheme === 'https' || scheme === 'http')
  const scheme = named.includes('https') || named.length === 0 ? 'https' : 'http'
  return urlOf(`${scheme}://${host}${path}`, base)
}

function urlOf (text: string, base: string | undefined): URL | undefined {
  if (/[{}\s]/.test(text) || !URL.canParse(text, base)) return undefined
  const url = new URL(text, base)
  return /^https?:$/.test(url.protocol) ? url : undefined
}

/** The path of a URL without the slash at its end, so that the path of an operation can follow. */
export const basePathOf = ({ pathname }: URL): string => pathname.replace(/\/+$/, '')
