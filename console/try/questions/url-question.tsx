import { CopyButton } from '../../parts/buttons.js'
import { CutText } from '../../parts/server-text.js'
import { webUrl } from '../../parts/text.js'
import { DeclineAndCancel, type QuestionProps } from './decline-and-cancel.js'

/** Asks to open a page. Nothing is opened or fetched before the button, and only http and https have one. */
export function UrlQuestion ({ question: { params }, answer }: QuestionProps) {
  const text = typeof params.url === 'string' ? params.url : ''
  const url = webUrl(text)
  const open = (): void => {
    window.open(url?.href, '_blank', 'noopener,noreferrer')
    answer({ action: 'accept' }, `opened ${url?.host ?? ''}`)
  }
  return (
    <>
      <p class='url'>
        <code>
          <CutText text={text} />
        </code>
      </p>
      {url === undefined && (
        <p class='note warn'>
          This address cannot be opened from here: only http and https addresses without a name or password are.
        </p>
      )}
      {url !== undefined && (
        <p>
          This page is at <strong>{url.host}</strong>. Open it only if you know why {url.host} should ask you
          something.
        </p>
      )}
      <DeclineAndCancel answer={answer}>
        {url !== undefined && (
          <button type='button' class='primary' onClick={open}>
            Open {url.host}
          </button>
        )}
        <CopyButton text={text} label='Copy the address' />
      </DeclineAndCancel>
    </>
  )
}
