import { useMemo } from 'preact/hooks'
import { isObject, type JsonObject } from '../client/contract.js'
import { CutText, HiddenBadge, ServerText } from '../parts/server-text.js'
import { aboutTokens, estimateTokens } from '../state/costs.js'
import type { Item } from '../state/lists.js'
import type { Kind } from '../state/route.js'
import { hintsOf } from './actions.js'
import { WhoMayCall } from './access.js'
import { Original } from './original.js'

/** Name, description, annotations and schema of a thing, all of it the server's own words. */
export function About ({ item, kind }: { item: Item, kind: Kind }) {
  const { key, name, title, description, raw } = item
  const whole = useMemo(() => JSON.stringify(raw), [raw])
  return (
    <header class='about stack'>
      <div>
        <h1>
          <CutText text={title ?? name} />
        </h1>
        {key !== (title ?? name) && (
          <code class='quiet'>
            <CutText text={key} />
          </code>
        )}
      </div>
      <div class='row badges'>
        {kind === 'tool' &&
          hintsOf(raw).map(({ words, tone }) => (
            <span key={words} class={`badge ${tone}`}>
              {words}
            </span>
          ))}
        {kind === 'tool' && <span class='badge'>{aboutTokens(estimateTokens(raw))}</span>}
        {typeof raw.mimeType === 'string' && (
          <span class='badge'>
            <ServerText text={raw.mimeType} />
          </span>
        )}
        {typeof raw.size === 'number' && <span class='badge'>{raw.size.toLocaleString()} bytes</span>}
        <HiddenBadge texts={[whole]} />
      </div>
      {description !== undefined && (
        <div class='description'>
          <CutText text={description} />
        </div>
      )}
      <Definition raw={raw} />
      {kind === 'tool' && <WhoMayCall item={item} />}
      {kind === 'tool' && <Original item={item} />}
    </header>
  )
}

function Definition ({ raw }: { raw: JsonObject }) {
  const { inputSchema, outputSchema } = raw
  const text = useMemo(() => JSON.stringify(raw, null, 2), [raw])
  return (
    <details class='definition'>
      <summary>
        {isObject(inputSchema)
          ? isObject(outputSchema)
            ? 'Schemas and definition'
            : 'Schema and definition'
          : 'Definition'}
      </summary>
      <CutText block text={text} />
    </details>
  )
}
