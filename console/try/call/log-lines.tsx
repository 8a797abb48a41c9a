import { useSignal } from '@preact/signals'
import { ServerText } from '../../parts/server-text.js'
import type { Call } from '../../state/calls.js'
import { LEVELS, linesFrom, toneOf } from './tones.js'

/** The newest lines; more are there, but not drawn. */
const MAX_DRAWN = 200

/** Shows what the server logged while it worked on a call. */
export function LogLines ({ call }: { call: Call }) {
  const least = useSignal('debug')
  const all = call.logs.value
  if (all.length === 0) return null
  const found = linesFrom(all, least.value)
  const hidden = found.length - MAX_DRAWN + call.droppedLogs.value
  return (
    <details class='log' open>
      <summary>
        Log <span class='count'>{all.length.toLocaleString()}</span>
      </summary>
      <label class='row small'>
        Least level{' '}
        <select
          class='short'
          value={least.value}
          onChange={event => {
            least.value = event.currentTarget.value
          }}
        >
          {LEVELS.map(level => (
            <option key={level}>{level}</option>
          ))}
        </select>
      </label>
      {found.length > MAX_DRAWN && <p class='small quiet'>{hidden.toLocaleString()} older lines are not shown.</p>}
      <ol class='log-lines' tabIndex={0} aria-label='Log lines'>
        {found.slice(-MAX_DRAWN).map((entry, index) => (
          <li key={index}>
            <span class={`badge ${toneOf(entry.level)}`}>
              <ServerText text={entry.level} />
            </span>
            {entry.logger !== undefined && (
              <span class='quiet'>
                <ServerText text={entry.logger} />
              </span>
            )}
            <ServerText text={entry.text} />
          </li>
        ))}
      </ol>
    </details>
  )
}
