import type { ComponentChildren } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import { pageUriOf } from '../../apps/page.js'
import { announce } from '../../parts/announce.js'
import { Boundary } from '../../parts/boundary.js'
import { late } from '../../parts/late.js'
import { CutText } from '../../parts/server-text.js'
import { Time } from '../../parts/time.js'
import { duration, span } from '../../parts/words.js'
import { JsonTree } from '../../results/json-tree.js'
import { Result } from '../../results/result.js'
import { isRunning, type Call, type Outcome } from '../../state/calls.js'
import { now } from '../../state/clock.js'
import { client } from '../../state/connection.js'
import { writeRoute } from '../../state/route.js'
import { itemOf, repeatCall } from '../actions.js'
import { useIntoView } from './into-view.js'
import { LogLines } from './log-lines.js'
import { AnsweredQuestions, QuestionView } from '../questions/question.js'
import { ProgressBar } from './progress-bar.js'
import { verdictOf, type Verdict } from './tones.js'

const AppFrame = late(async () => (await import('../../shell/late-views.js')).AppFrame)

/** One call: how far it is, what it asks, what came of it. */
export function CallView ({ call, children }: { call: Call, children?: ComponentChildren }) {
  const running = isRunning(call)
  const box = useRef<HTMLElement>(null)
  useVerdictAnnounced(call)
  useIntoView(box, call)
  return (
    <section ref={box} class='card call stack' aria-label={`Call ${call.id}`} tabIndex={-1}>
      <CallHead call={call}>
        {children}
        {running
          ? (
            <button type='button' class='danger' onClick={() => call.cancel()}>
              Cancel
            </button>
            )
          : (
              call.isRedacted !== true && (
                <button type='button' disabled={client.value === undefined} onClick={() => repeatCall(call)}>
                  Call again
                </button>
              )
            )}
      </CallHead>
      {call.isRedacted === true && (
        <p class='small quiet'>
          Values that may be secret were not kept over the reload of this page: fill them in to call again.
        </p>
      )}
      {running && <ProgressBar call={call} />}
      {call.questions.value.map(question => (
        <Boundary key={question.id}>
          <QuestionView call={call} question={question} />
        </Boundary>
      ))}
      <AnsweredQuestions answered={call.answered.value} />
      <LogLines call={call} />
      <App call={call} outcome={call.outcome.value} />
      <OutcomeView call={call} outcome={call.outcome.value} />
    </section>
  )
}

function CallHead ({ call, children }: { call: Call, children: ComponentChildren }) {
  return (
    <div class='row spread'>
      <div class='row'>
        <h2>Call {call.id}</h2>
        <VerdictBadge verdict={verdictOf(call.outcome.value)} />
        <span class='quiet small'><Time at={call.startedAt} />, <Took call={call} /></span>
      </div>
      <div class='row'>{children}</div>
    </div>
  )
}

export function VerdictBadge ({ verdict: { words, tone } }: { verdict: Verdict }) {
  return <span class={`badge ${tone}`}>{words}</span>
}

/** How long a call took, or has taken until now. */
export function Took ({ call }: { call: Call }) {
  const ended = call.endedAt.value
  return <>{ended === undefined ? `for ${span(now.value - call.startedAt)}` : duration(ended - call.startedAt)}</>
}

/** The page of a tool that has one, with the result of this call. */
function App ({ call, outcome }: { call: Call, outcome: Outcome | undefined }) {
  const item = call.kind === 'tool' ? itemOf(call) : undefined
  if (outcome?.type !== 'result' || item === undefined || call.isRedacted === true || client.value === undefined) return null
  if (pageUriOf(item.raw) === undefined) return null
  return <Boundary><AppFrame call={call} item={item} result={outcome.result} /></Boundary>
}

function OutcomeView ({ call, outcome }: { call: Call, outcome: Outcome | undefined }) {
  switch (outcome?.type) {
    case undefined:
      return null
    case 'result':
      return (
        <Result
          value={outcome.result}
          outputSchema={itemOf(call)?.raw.outputSchema}
          onOpen={uri => {
            location.hash = writeRoute({ view: 'try', kind: 'resource', name: uri })
          }}
        />
      )
    case 'error':
      return <Refusal outcome={outcome} />
    case 'cancelled':
      return (
        <p class='note warn'>
          {outcome.declined === undefined
            ? 'You cancelled this call. The gateway was told to stop it.'
            : `The call ended here: ${outcome.declined}.`}
        </p>
      )
    case 'left-out':
      return <p class='note'>The result was too long to be kept over the reload of this page.</p>
    case 'lost':
      return <p class='note warn'>{outcome.why}. Whether the server finished the call is not known.</p>
  }
}

function Refusal ({ outcome: { code, message, data } }: { outcome: Outcome & { type: 'error' } }) {
  return (
    <div class='note bad stack'>
      <p><strong>Error {code}:</strong> <CutText text={message} /></p>
      {data !== undefined && <details><summary>Details</summary><JsonTree value={data} open /></details>}
    </div>
  )
}

/** Says how a call ended, if it did so while it was shown. */
function useVerdictAnnounced (call: Call): void {
  const outcome = call.outcome.value
  const before = useRef(outcome)
  useEffect(() => {
    if (before.current !== outcome) announce(`Call ${call.id}: ${verdictOf(outcome).words}`)
    before.current = outcome
  }, [outcome])
}
