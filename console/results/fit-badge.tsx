import { useMemo, useState } from 'preact/hooks'
import type { Json, JsonObject } from '../client/contract.js'
import { namesOf } from '../forms/model/value.js'
import { ServerText } from '../parts/server-text.js'
import { fitOf } from './fit.js'

/** Says whether a result is as the tool's `outputSchema` promises, or where it is not. */
export function FitBadge ({ result, outputSchema }: { result: JsonObject, outputSchema: Json }) {
  const [asked, setAsked] = useState(false)
  const fit = useMemo(() => fitOf(result, outputSchema, asked), [result, outputSchema, asked])
  switch (fit.type) {
    case 'fits': return <span class='badge good'>✓ fits outputSchema</span>
    case 'missing': return <span class='badge bad'>✗ no structuredContent, although there is an outputSchema</span>
    case 'unknown': return <span class='badge warn'>not checked: outputSchema cannot be followed, or not in time</span>
    case 'large': return <button type='button' onClick={() => setAsked(true)}>Check against outputSchema</button>
    case 'wrong': return (
      <div>
        <span class='badge bad'>✗ does not fit outputSchema</span>
        <ul class='summary small'>
          {fit.errors.slice(0, 10).map(({ at, message }) => <li key={`${at} ${message}`}><strong><ServerText text={at === '' ? 'structuredContent' : namesOf(at).join(' › ')} /></strong>: <ServerText text={message} /></li>)}
        </ul>
      </div>
    )
  }
}
