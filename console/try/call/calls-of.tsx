import { useSignal } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import { Boundary } from '../../parts/boundary.js'
import { Time } from '../../parts/time.js'
import { calls, isRunning, type Call } from '../../state/calls.js'
import type { Kind } from '../../state/route.js'
import { CallView, Took, VerdictBadge } from './call-view.js'
import { verdictOf } from './tones.js'

/** The calls of one thing: the newest and those that run are open, earlier ones on demand. */
export function CallsOf ({ kind, name }: { kind: Kind, name: string }) {
  const own = calls.value.filter(call => call.kind === kind && call.key === name)
  const [newest] = own
  const open = own.filter(call => call === newest || isRunning(call))
  const earlier = own.filter(call => !open.includes(call))
  return (
    <>
      {open.map(call => <Boundary key={call.id}><CallView call={call} /></Boundary>)}
      {earlier.length > 0 && (
        <section class='stack'>
          <h2>Earlier calls</h2>
          <ul class='stack'>{earlier.map(call => <li key={call.id}><FoldedCall call={call} /></li>)}</ul>
        </section>
      )}
    </>
  )
}

/** One line about a call, and all of it when it is opened. */
export function FoldedCall ({ call, about }: { call: Call, about?: ComponentChildren }) {
  const open = useSignal(false)
  return (
    <div class='folded'>
      <button
        type='button'
        class='plain folded-line'
        aria-expanded={open.value}
        onClick={() => {
          open.value = !open.value
        }}
      >
        <span class='quiet'>
          <Time at={call.startedAt} />
        </span>
        {about}
        <span class='quiet'>Call {call.id}</span>
        <VerdictBadge verdict={verdictOf(call.outcome.value)} />
        <span class='quiet'>
          <Took call={call} />
        </span>
      </button>
      {open.value && (
        <Boundary>
          <CallView call={call} />
        </Boundary>
      )}
    </div>
  )
}
