import { useEffect, useState } from 'preact/hooks'
import type { Json, JsonObject } from '../client/contract.js'
import { namesOf } from '../forms/model/value.js'
import { ServerText } from '../parts/server-text.js'
import { fitOf, type Fit } from './fit.js'

/** Says whether a result is as the tool's `outputSchema` promises, or where it is not. */
export function FitBadge ({ result, outputSchema }: { result: JsonObject, outputSchema: Json }) {
  const [asked, setAsked] = useState(false)
  const [fit, setFit] = useState<Fit | undefined>()
  useEffect(() => {
    let isShown = true
    setFit(undefined)
    void fitOf(result, outputSchema, asked).then(fit => { if (isShown) setFit(fit) })
    return () => { isShown = false }
  }, [result, outputSchema, asked])
  switch (fit?.type) {
    case undefined:
      return <span class='badge'>checking against outputSchema …</span>
    case 'fits':
      return <span class='badge good'>✓ fits outputSchema</span>
    case 'missing':
      return <span class='badge bad'>✗ no structuredContent, although there is an outputSchema</span>
    case 'unknown':
      return <span class='badge warn'>not checked: outputSchema cannot be followed</span>
    case 'late':
      return (
        <span class='badge warn'>
          not checked: outputSchema could not be checked in {asked ? 'ten seconds' : 'a second'}
        </span>
      )
    case 'large':
      return (
        <button type='button' onClick={() => setAsked(true)}>
          Check against outputSchema
        </button>
      )
    case 'wrong':
      return (
        <div>
          <span class='badge bad'>✗ does not fit outputSchema</span>
          <ul class='summary small'>
            {fit.errors.slice(0, 10).map(({ at, message }) => (
              <li key={`${at} ${message}`}>
                <strong>
                  <ServerText text={at === '' ? 'structuredContent' : namesOf(at).join(' › ')} />
                </strong>
                : <ServerText text={message} />
              </li>
            ))}
          </ul>
        </div>
      )
  }
}
