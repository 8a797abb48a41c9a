import { useSignal } from '@preact/signals'
import { isObject } from '../client/contract.js'
import { announce } from '../parts/announce.js'
import { ServerText } from '../parts/server-text.js'
import { client } from '../state/connection.js'
import { canStart, outlookOf, readServerLog, startServer } from '../state/servers.js'
import { SignIn } from './sign-in.js'
import type { UpstreamRow } from '../client/watch-batch.js'

/** The state of an upstream server in a word. */
export function StateBadge ({ state }: { state: string }) {
  return <span class={`badge ${toneOf(state)}`}><ServerText text={state} /></span>
}

/**
 * Why a server does not run, how it goes on, what it wrote, and a button that starts it. `now` is the time of the
 * gateway.
 */
export function ServerState ({ server, now }: { server: UpstreamRow, now: number }) {
  const { alias, state, failing, lastError, lastLines = [] } = server
  const outlook = outlookOf(server, now)
  return (
    <div class='server-state'>
      {lastError !== undefined && (
        <p class='small'>
          <span class='quiet'>{failing === true ? 'Reason:' : 'Last error:'}</span>{' '}
          <ServerText text={String(lastError)} />
        </p>
      )}
      <ListRemarks server={server} />
      {outlook !== '' && <p class='small quiet'>{outlook}</p>}
      <SignIn alias={alias} isNeeded={state === 'needs sign-in'} />
      {canStart(server) && <StartButton alias={alias} label={failing === true ? 'Try again' : 'Start'} />}
      {Array.isArray(lastLines) && lastLines.length > 0 && (
        <details>
          <summary class='small'>
            Its last {lastLines.length === 1 ? 'line' : `${lastLines.length} lines`} of standard error before it failed
          </summary>
          <ServerText block text={lastLines.join('\n')} />
        </details>
      )}
      {state !== 'misconfigured' && <RecentLog alias={alias} />}
    </div>
  )
}

/** How many entries of a server's lists were repaired, what was left out of them, and what was not accepted. */
export function ListRemarks ({ server: { alias, repaired = 0, warnings = [], pins } }: { server: UpstreamRow }) {
  return (
    <>
      {Number(repaired) > 0 && (
        <p class='small quiet'>{`Entries of its lists that were repaired, because some clients would refuse them: ${Number(repaired)}`}</p>
      )}
      {Array.isArray(warnings) && warnings.length > 0 && (
        <details>
          <summary class='small'>
            {warnings.length === 1 ? '1 warning' : `${warnings.length} warnings`} about its lists
          </summary>
          <ServerText block text={warnings.join('\n')} />
        </details>
      )}
      <PinRemarks alias={alias} pins={pins} />
    </>
  )
}

/** Shows what a server offers and no operator accepted, and what may be missed there. */
function PinRemarks ({ alias, pins }: { alias: string, pins: UpstreamRow['pins'] }) {
  if (!isObject(pins)) return null
  const [differences, marks] = [listOf(pins.differences), listOf(pins.marks)]
  return (
    <>
      {differences.length > 0 && (
        <details>
          <summary class='small'>
            It does not offer what was accepted{pins.mode === 'hold' && ', which is held back'}
            <span class='visually-hidden'> of {alias}</span>
          </summary>
          <ServerText block text={differences.join('\n')} />
          <p class='small quiet'><code>patchbay pins diff {alias}</code> shows all of it.</p>
        </details>
      )}
      {marks.length > 0 && (
        <details>
          <summary class='small'>
            Its definitions have what a reader may miss<span class='visually-hidden'>, at {alias}</span>
          </summary>
          <ServerText block text={marks.join('\n')} />
        </details>
      )}
    </>
  )
}

const listOf = (value: unknown): unknown[] => Array.isArray(value) ? value : []

function StartButton ({ alias, label }: { alias: string, label: string }) {
  const refused = useSignal('')
  const start = async (): Promise<void> => {
    if (client.value === undefined) return
    refused.value = ''
    announce(`Starting ${alias}`)
    await startServer(client.value, alias).catch((error: unknown) => { refused.value = wordsOf(error) })
  }
  return (
    <div class='row'>
      <button
        type='button'
        disabled={client.value === undefined}
        onClick={() => {
          void start()
        }}
      >
        {label}
        <span class='visually-hidden'> to start {alias}</span>
      </button>
      <span role='status' class='error small'>
        {refused.value === '' ? null : <ServerText text={refused.value} />}
      </span>
    </div>
  )
}

/** The standard error of the process that was started last; read when it is opened. */
function RecentLog ({ alias }: { alias: string }) {
  const lines = useSignal<string[] | undefined>(undefined)
  const problem = useSignal('')
  const read = async (): Promise<void> => {
    if (client.value === undefined) return
    problem.value = ''
    await readServerLog(client.value, alias).then(
      found => {
        lines.value = found
      },
      (error: unknown) => {
        problem.value = wordsOf(error)
      }
    )
  }
  return (
    <details
      onToggle={event => {
        if (event.currentTarget.open) void read()
      }}
    >
      <summary class='small'>
        Recent log<span class='visually-hidden'> of {alias}</span>
      </summary>
      {lines.value === undefined || lines.value.length > 0
        ? null
        : (
          <p class='small quiet'>
            The gateway has no lines: it wrote nothing to standard error, or it is no program that the gateway starts.
          </p>
          )}
      {lines.value === undefined || lines.value.length === 0
        ? null
        : (
          <ServerText block text={lines.value.join('\n')} />
          )}
      <p class='error small' role='status'>
        {problem.value === '' ? null : <ServerText text={problem.value} />}
      </p>
      <button
        type='button'
        class='plain'
        onClick={() => {
          void read()
        }}
      >
        Read again
      </button>
    </details>
  )
}

const wordsOf = (error: unknown): string => error instanceof Error ? error.message : String(error)

const toneOf = (state: string): string =>
  state === 'ready'
    ? 'good'
    : state === 'crash loop' || state === 'misconfigured' || state === 'closed'
      ? 'bad'
      : state === 'disabled'
        ? ''
        : 'warn'
