import { hiddenCount, pieces, type HiddenRun } from './text/hidden.js'

/** Text that a server wrote: always text nodes, isolated from the direction of what surrounds it, with hidden characters drawn. */
export function ServerText ({ text, block = false }: { text: string, block?: boolean }) {
  const drawn = pieces(text).map((piece, index) => typeof piece === 'string' ? piece : <Hidden key={index} run={piece} />)
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
