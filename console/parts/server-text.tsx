import { beginningOf, hiddenCount, pieces, webUrl, type HiddenRun } from './text.js'

/**
 * Text that a server wrote: always text nodes, isolated from the direction of what surrounds it, with hidden characters
 * drawn.
 */
export function ServerText ({ text, block = false }: { text: string, block?: boolean }) {
  const drawn = pieces(text).map((piece, index) =>
    typeof piece === 'string' ? piece : <Hidden key={index} run={piece} />
  )
  return block ? <pre class='server-text' dir='auto' tabIndex={0}>{drawn}</pre> : <bdi class='server-text'>{drawn}</bdi>
}

/** Says how many hidden characters these texts have; nothing when they have none. */
export function HiddenBadge ({ texts }: { texts: Array<string | undefined> }) {
  const count = texts.reduce((sum, text) => sum + hiddenCount(text ?? ''), 0)
  if (count === 0) return null
  return <span class='badge warn'>{count === 1 ? '1 hidden character' : `${count} hidden characters`}</span>
}

function Hidden ({ run: { codes, more } }: { run: HiddenRun }) {
  const rest = more === 0 ? [] : [`${more} more`]
  return <span class='hidden-character'>⟨{[...codes, ...rest].join(' ')}⟩</span>
}

/** A browser takes a second or more to lay out a longer text. */
const MAX_DRAWN = 100_000

/** A server's text of any length: its beginning, and how much there is. */
export function CutText ({ text, block = false }: { text: string, block?: boolean }) {
  const drawn = beginningOf(text, MAX_DRAWN)
  if (drawn.length === text.length) return <ServerText text={text} block={block} />
  return (
    <>
      <ServerText text={drawn} block={block} />{' '}
      <span class='quiet small'>
        The first {drawn.length.toLocaleString()} of {text.length.toLocaleString()} characters.
      </span>
    </>
  )
}

/** A server's URL: a link with its host shown when a browser may open it, else text. */
export function LinkText ({ url, text = url }: { url: string, text?: string }) {
  const target = webUrl(url)
  if (target === undefined) {
    return (
      <>
        <ServerText text={text} />
        {text === url
          ? null
          : (
            <>
              {' '}
              <code>
                <ServerText text={url} />
              </code>
            </>
            )}
      </>
    )
  }
  return (
    <>
      <a href={target.href} target='_blank' rel='noopener noreferrer'><ServerText text={text} /></a>
      {' '}<span class='quiet small'>opens <strong>{target.host}</strong></span>
    </>
  )
}
