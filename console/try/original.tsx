import { useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { CutText, ServerText } from '../parts/server-text.js'
import { client } from '../state/connection.js'
import { aboutTokens, estimateTokens } from '../state/costs.js'
import { readOriginal, type Original as Found } from '../state/gateway-views.js'
import type { Item } from '../state/lists.js'

/** The other name of a tool and its original definition, for operators, where the view shows it otherwise. */
export function Original ({ item: { key, raw } }: { item: Item }) {
  const found = useSignal<Found | undefined>(undefined)
  const current = client.value
  useEffect(() => {
    let ended = false
    found.value = undefined
    if (current !== undefined) {
      readOriginal(current, key).then(original => { if (!ended) found.value = original }, () => {})
    }
    return () => { ended = true }
  }, [current, key, raw])
  if (found.value === undefined) return null
  const { canonical, changed, definition } = found.value
  const others = changed.filter(member => member !== 'name')
  return (
    <>
      {canonical !== key && (
        <p class='small'>
          In options, logs and on <code>/mcp</code> it is{' '}
          <code>
            <ServerText text={canonical} />
          </code>
          .
        </p>
      )}
      {others.length > 0 && (
        <details class='definition'>
          <summary>
            Original definition, {aboutTokens(estimateTokens(definition))}; different in{' '}
            <ServerText text={others.join(', ')} />
          </summary>
          <CutText block text={JSON.stringify(definition, null, 2)} />
        </details>
      )}
    </>
  )
}
