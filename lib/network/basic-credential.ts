import { tryDecode } from './try-decode.js'

/** The header `Authorization` for the user and password of a URL; undefined where it has none. */
export function basicCredential ({ username, password }: Pick<URL, 'username' | 'password'>): string | undefined {
  if (username === '' && password === '') return undefined
  return `Basic ${Buffer.from([username, password].map(text => tryDecode(text) ?? text).join(':')).toString('base64')}`
}
