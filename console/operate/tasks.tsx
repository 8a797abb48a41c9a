import { useSignal, type Signal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import type { Client } from '../client/contract.js'
import { announce } from '../parts/announce.js'
import { ServerText } from '../parts/server-text.js'
import { ago, span } from '../parts/words.js'
import { now } from '../state/clock.js'
import { cancelTask, isRunningTask, MAX_TASKS, reachOf, readTasks, type TaskRow } from '../state/tasks.js'
import { NotAllowed } from './not-allowed.js'

/** How often the list is read while the page is seen, in milliseconds. */
const INTERVAL = 3_000

/** Work that outlives its request: tasks, and calls that were answered early. */
export function Tasks ({ client }: { client: Client | undefined }) {
  const rows = useSignal<readonly TaskRow[] | undefined>(undefined)
  const problem = useSignal('')
  const reach = reachOf(client)
  const read = useTasks(client, rows, problem)
  if (client !== undefined && reach === 'none') return <NotAllowed what='see the tasks of all callers' />
  const all = rows.value ?? []
  return (
    <section class='stack' aria-labelledby='tasks'>
      <div class='row spread'>
        <h1 id='tasks'>Tasks</h1>
        <span class='quiet small'>{inWords(all, reach === 'own')}</span>
      </div>
      {problem.value !== '' && (
        <p class='note bad' role='status'>The tasks could not be read: <ServerText text={problem.value} /></p>
      )}
      {rows.value !== undefined && all.length === 0 && (
        <p class='card quiet nothing'>
          No work outlives its request now. Tasks, and calls that were answered before they ended, stand here until
          they expire.
        </p>
      )}
      {all.length > 0 && (
        <ul class='card tasks' aria-label='Work that outlives its request'>
          {all.map(task => <Task key={task.id} task={task} client={client} onEnd={read} />)}
        </ul>
      )}
    </section>
  )
}

/** Reads the tasks now and then, as long as the page is seen. Returns how to read them at once. */
function useTasks (
  client: Client | undefined,
  rows: Signal<readonly TaskRow[] | undefined>,
  problem: Signal<string>
): () => void {
  const round = useSignal(0)
  useEffect(() => {
    if (client === undefined || reachOf(client) === 'none') return
    let isEnded = false
    let timer: ReturnType<typeof setTimeout> | undefined
    const read = async (): Promise<void> => {
      if (!document.hidden) {
        await readTasks(client).then(
          found => {
            if (isEnded) return
            rows.value = found
            problem.value = ''
          },
          (error: unknown) => {
            if (!isEnded) problem.value = error instanceof Error ? error.message : String(error)
          }
        )
      }
      if (!isEnded) timer = setTimeout(() => { void read() }, INTERVAL)
    }
    void read()
    return () => {
      isEnded = true
      clearTimeout(timer)
    }
  }, [client, round.value])
  return () => { round.value++ }
}

function inWords (all: readonly TaskRow[], areOwn: boolean): string {
  const running = all.filter(isRunningTask).length
  const words = `${running.toLocaleString()} running, ${(all.length - running).toLocaleString()} ended`
  const whose = areOwn ? `${words}, all yours` : words
  return all.length >= MAX_TASKS ? `${whose}; the first ${MAX_TASKS.toLocaleString()} that were read` : whose
}

const TONES: Readonly<Record<string, string>> = {
  working: '', input_required: 'warn', completed: 'good', failed: 'bad', cancelled: ''
}
const WORDS: Readonly<Record<string, string>> = { input_required: 'waits for answers', working: 'runs' }

function Task ({ task, client, onEnd }: { task: TaskRow, client: Client | undefined, onEnd: () => void }) {
  const { id, kind, tool, principal, view, status, message, createdAt, updatedAt, expiresAt } = task
  const time = now.value
  return (
    <li class='task'>
      <div class='grow'>
        <p class='row'>
          <strong><ServerText text={tool ?? id} /></strong>
          <span class={`badge ${TONES[status] ?? ''}`}><ServerText text={WORDS[status] ?? status} /></span>
          {kind === 'call' && <span class='badge'>answered early</span>}
          {view !== undefined && <span class='quiet small'>in <ServerText text={view} /></span>}
        </p>
        {message !== undefined && <p class='small'><ServerText text={message} /></p>}
        <p class='small quiet'>
          {principal !== undefined && <><ServerText text={principal} />, </>}
          began {ago(time - createdAt)}, changed {ago(time - updatedAt)}
          {expiresAt !== undefined && expiresAt > time && `, is kept for ${span(expiresAt - time)} more`}
        </p>
        <p class='small quiet'><code><ServerText text={id} /></code></p>
      </div>
      {isRunningTask(task) && <Cancel task={task} client={client} onEnd={onEnd} />}
    </li>
  )
}

function Cancel ({ task, client, onEnd }: { task: TaskRow, client: Client | undefined, onEnd: () => void }) {
  const said = useSignal('')
  const busy = useSignal(false)
  const cancel = async (): Promise<void> => {
    if (client === undefined || busy.value) return
    busy.value = true
    said.value = await cancelTask(client, task).catch((error: unknown) =>
      error instanceof Error ? error.message : String(error))
    busy.value = false
    announce(said.value)
    onEnd()
  }
  return (
    <div class='row'>
      <span role='status' class='small'>{said.value === '' ? null : <ServerText text={said.value} />}</span>
      <button
        type='button'
        class='danger'
        disabled={client === undefined || busy.value}
        onClick={() => {
          void cancel()
        }}
      >
        Cancel<span class='visually-hidden'> {task.tool ?? task.id}</span>
      </button>
    </div>
  )
}
