import { beginningOf } from './beginning.js'
import { ServerText } from '../server-text.js'

/** A browser takes a second or more to lay out a longer text. */
const MAX_DRAWN = 100_000

/** A server's text of any length: its beginning, and how much there is. */
export function CutText ({ text, block = false }: { text: string, block?: boolean }) {
  const drawn = beginningOf(text, MAX_DRAWN)
  if (drawn.length === text.length) return <ServerText text={text} block={block} />
  return <><ServerText text={drawn} block={block} /> <span class='quiet small'>The first {drawn.length.toLocaleString()} of {text.length.toLocaleString()} characters.</span></>
}
