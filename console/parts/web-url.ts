/** The URL if a browser may open it as a page: http or https. Names and passwords before the host only deceive, so those are refused, too. */
export function webUrl (text: string): URL | undefined {
  if (!URL.canParse(text)) return undefined
  const url = new URL(text)
  const web = url.protocol === 'https:' || url.protocol === 'http:'
  return web && url.username === '' && url.password === '' ? url : undefined
}
