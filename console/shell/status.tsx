import { useEffect } from 'preact/hooks'
import { announce } from '../parts/announce.js'
import { ServerText } from '../parts/server-text.js'
import { span } from '../parts/words.js'
import { calls, isRunning, lostCalls, type Call } from '../state/calls.js'
import { now } from '../state/clock.js'
import { status, type Reconnector, type Status } from '../state/connection.js'
import { chooseView, chosenView } from '../state/gateway-views.js'
import { route, writeRoute } from '../state/route.js'
import { failingOf, servers } from '../state/servers.js'

const DOTS: Record<Status['state'], string> = { connected: 'good', connecting: 'warn', waiting: 'bad', login: 'warn' }

const WORDS: Record<Status['state'], string> = {
  connected: 'Connected',
  connecting: 'Connecting',
  waiting: 'Not connected',
  login: 'Not logged in'
}

/** The connection in one word, how many servers behind the gateway failed, and which calls are in flight. */
export function StatusLine () {
  const { state } = status.value
  useEffect(() => announce(WORDS[state]), [state])
  const failing = state === 'connected' ? failingOf(servers.value).length : 0
  const parts = [
    WORDS[state],
    failing === 0 ? '' : failing === 1 ? '1 server failed' : `${failing} servers failed`,
    inFlight()
  ]
  return (
    <span class={`status badge ${failing === 0 ? DOTS[state] : 'warn'}`}>
      <span class='dot' aria-hidden='true' />
      {parts.filter(part => part !== '').join(', ')}
    </span>
  )
}

/** News about the connection that a person has to know, above every view. */
export function StatusNotes ({ connection }: { connection: Reconnector }) {
  return (
    <>
      <Trouble connection={connection} />
      <Lost />
      <Asked />
    </>
  )
}

function Trouble ({ connection }: { connection: Reconnector }) {
  const current = status.value
  if (current.state === 'connected' || current.state === 'login') return null
  if (current.state === 'connecting') {
    return now.value - current.since < 1500
      ? null
      : (
        <p class='note warn'>
          Connecting to the gateway since {span(now.value - current.since)}, attempt {current.attempt}.
        </p>
        )
  }
  const left = Math.max(0, current.until - now.value)
  return (
    <div class='note bad row spread'>
      <p>
        <strong>Not connected.</strong> {current.why}. Since {span(now.value - current.since)}; next attempt in{' '}
        {span(left + 999)}. What you typed is kept.
      </p>
      <div class='row'>
        {chosenView.value !== undefined && (
          <button type='button' onClick={() => chooseView(undefined)}>
            Leave the view {chosenView.value}, which may be gone
          </button>
        )}
        <button
          type='button'
          onClick={() => {
            void connection.connect()
          }}
        >
          Connect now
        </button>
      </div>
    </div>
  )
}

/** Questions of calls that this view does not show. */
function Asked () {
  const current = route.value
  const isShown = ({ kind, key }: Call): boolean =>
    current.view === 'try' && current.kind === kind && current.name === key
  const asking = calls.value.filter(call => call.questions.value.length > 0 && !isShown(call))
  if (asking.length === 0) return null
  return (
    <p class='note row'>
      {asking.length === 1 ? 'A call waits' : `${asking.length} calls wait`} for your answer:
      {asking.map(({ id, kind, key }) => (
        <a key={id} href={writeRoute({ view: 'try', kind, name: key })}>
          <ServerText text={key} />
        </a>
      ))}
    </p>
  )
}

function Lost () {
  const lost = lostCalls.value
  const names = [...new Set(lost.map(({ key }) => key))]
  useEffect(() => { if (lost.length > 0) announce(`${countOf(lost.length)} lost with the connection`) }, [lost.length])
  if (lost.length === 0) return null
  return (
    <div class='note warn row spread'>
      <p>
        {countOf(lost.length)} lost with the connection; whether the server finished is not known:{' '}
        {names.map((name, index) => (
          <span key={name}>
            {index > 0 && ', '}
            <code>
              <ServerText text={name} />
            </code>
          </span>
        ))}
      </p>
      <button
        type='button'
        onClick={() => {
          lostCalls.value = []
        }}
      >
        Dismiss
      </button>
    </div>
  )
}

const countOf = (count: number): string => count === 1 ? '1 call was' : `${count} calls were`

/** How many calls wait for an answer, in words; empty when none does. */
function inFlight (): string {
  const running = calls.value.filter(isRunning)
  if (running.length === 0) return ''
  const oldest = Math.min(...running.map(({ startedAt }) => startedAt))
  return `${running.length === 1 ? '1 call' : `${running.length} calls`} in flight for ${span(now.value - oldest)}`
}
