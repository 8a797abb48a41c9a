import { ServerText } from '../parts/server-text.js'
import type { FieldError } from './check.js'
import { namesOf } from './model/value.js'

/** Everything that is wrong, by name, also where no field shows it; spoken when it appears. */
export function ErrorSummary ({ errors, idPrefix }: { errors: readonly FieldError[], idPrefix: string }) {
  return (
    <div role='alert' id={`${idPrefix}-errors`}>
      {errors.length > 0 && (
        <div class='note bad small'>
          <p>{errors.length === 1 ? 'One thing has to change:' : `${errors.length} things have to change:`}</p>
          <ul class='summary'>
            {errors.map(({ at, message }) => (
              <li key={`${at} ${message}`}>
                {at !== '' && <><strong><ServerText text={namesOf(at).join(' › ')} /></strong>:{' '}</>}
                <ServerText text={message} />
              </li>
            ))}
          </ul>
        </div>
      )}
    </div>
  )
}
