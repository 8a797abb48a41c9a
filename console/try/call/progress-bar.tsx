import { useEffect, useId, useRef } from 'preact/hooks'
import { announce } from '../../parts/announce.js'
import { progressInWords, shareOf } from '../../parts/words.js'
import { ServerText } from '../../parts/server-text.js'
import type { Call } from '../../state/calls.js'

/** Progress is spoken no more often than this. */
const ANNOUNCE_MS = 5_000

/** How far a call is, as far as its server says. */
export function ProgressBar ({ call }: { call: Call }) {
  const id = useId()
  const progress = call.progress.value
  const announced = useRef(call.startedAt)
  const words = progress === undefined ? '' : progressInWords(progress)
  useEffect(() => {
    if (words === '' || Date.now() - announced.current < ANNOUNCE_MS) return
    announced.current = Date.now()
    announce(`Call ${call.id}: ${words}`)
  }, [words])
  if (call.questions.value.length > 0) return <p class='small quiet'>The server waits for your answer.</p>
  const share = progress === undefined ? undefined : shareOf(progress)
  return (
    <div class='progress'>
      <label for={id} class='row spread small'>
        <span>
          {progress?.message === undefined ? 'Waiting for the server' : <ServerText text={progress.message} />}
        </span>
        <span class='quiet'>{words}</span>
      </label>
      <progress id={id} max={1} {...(share === undefined ? {} : { value: share })} />
    </div>
  )
}
