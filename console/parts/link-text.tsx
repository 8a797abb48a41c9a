import { ServerText } from './server-text.js'
import { webUrl } from './web-url.js'

/** A server's URL: a link with its host shown when a browser may open it, else text. */
export function LinkText ({ url, text = url }: { url: string, text?: string }) {
  const target = webUrl(url)
  if (target === undefined) return <><ServerText text={text} />{text === url ? null : <> <code><ServerText text={url} /></code></>}</>
  return (
    <>
      <a href={target.href} target='_blank' rel='noopener noreferrer'><ServerText text={text} /></a>
      {' '}<span class='quiet small'>opens <strong>{target.host}</strong></span>
    </>
  )
}
