import { useMemo, useState } from 'preact/hooks'
import { CopyButton } from '../parts/copy-button.js'
import { ServerText } from '../parts/server-text.js'
import { beginning, blocksOf, byteLength, SHOWN_BYTES, sizeWords } from './excerpt.js'
import { SaveButton } from '../parts/save-button.js'

/** A server's text of any length: the first 100 KiB, and more when asked. */
export function LongText ({ text }: { text: string }) {
  const [times, setTimes] = useState(1)
  const shown = useMemo(() => beginning(text, times), [text, times])
  const blocks = useMemo(() => blocksOf(shown), [shown])
  const size = useMemo(() => text.length * 3 < SHOWN_BYTES ? 0 : byteLength(text), [text])
  return (
    <div class='long-text'>
      <pre class='server-text' dir='auto' tabIndex={0}>{blocks.map((block, index) => <span key={index} class={blocks.length === 1 ? '' : 'block-of-text'}><ServerText text={block} /></span>)}</pre>
      <div class='row'>
        {shown.length < text.length ? <span class='quiet small'>{sizeWords(times * SHOWN_BYTES)} of {sizeWords(size)} shown</span> : null}
        {shown.length < text.length ? <button type='button' onClick={() => setTimes(times + 1)}>Show 100 KiB more</button> : null}
        <CopyButton text={text} label='Copy text' />
        {size > 0 ? <SaveButton content={() => text} name='text.txt' label='Save text' /> : null}
      </div>
    </div>
  )
}
