import type { Json } from '../client/contract.js'
import { ServerText } from '../parts/server-text.js'
import { calls, isRunning, type Call } from '../state/calls.js'
import { fieldsOf, setDraft } from '../state/drafts.js'
import { writeRoute } from '../state/route.js'
import { cannotStore, MAX_STORED, withoutRedacted } from '../state/stored-calls.js'
import { itemOf } from './actions.js'
import { FoldedCall } from './call/calls-of.js'

/** The calls of this tab, newest first. A reload keeps the last of them; all are forgotten with the tab. */
export function History () {
  const all = calls.value
  return (
    <section class='stack history'>
      <div class='row spread'>
        <h1>History of this tab</h1>
        {all.some(call => !isRunning(call)) && (
          <button
            type='button'
            onClick={() => {
              calls.value = calls.value.filter(isRunning)
            }}
          >
            Clear
          </button>
        )}
      </div>
      {all.length === 0 && (
        <p class='card quiet nothing'>Nothing was called yet. Calls are kept here until this tab is closed.</p>
      )}
      {all.length > 0 && (
        <p class='small quiet'>
          {cannotStore.value
            ? 'This browser does not let the page store calls: a reload forgets them.'
            : `Until this tab is closed. A reload keeps the last ${MAX_STORED}, without log lines, values that may be secret, and long results.`}
        </p>
      )}
      <ul class='stack'>
        {all.map(call => (
          <li key={call.id} class='card history-entry'>
            <FoldedCall call={call} about={<CallName call={call} />} />
            <a href={writeRoute({ view: 'try', kind: call.kind, name: call.key })} onClick={() => takeArguments(call)}>
              Edit and call
            </a>
          </li>
        ))}
      </ul>
    </section>
  )
}

/** The title of what was called, and the server that it is of: several may have one of the same title. */
function CallName ({ call }: { call: Call }) {
  const item = itemOf(call)
  return (
    <>
      <strong>
        <ServerText text={item?.title ?? call.key} />
      </strong>
      {item !== undefined && item.title !== undefined && item.group !== '' && (
        <span class='quiet'>
          <ServerText text={item.group} />
        </span>
      )}
    </>
  )
}

/** Puts the arguments of a call back where they are typed. */
function takeArguments (call: Call): void {
  const args = call.isRedacted === true ? withoutRedacted(call.params.arguments ?? {}) : call.params.arguments
  if (call.kind === 'tool') setDraft('tool', call.key, itemOf(call)?.raw.inputSchema ?? call.inputSchema, args ?? {})
  else if (call.kind === 'template') fieldsOf('template', call.key).value = call.variables ?? new Map()
  else if (call.kind === 'prompt') {
    fieldsOf('prompt', call.key).value = new Map(
      Object.entries((args ?? {}) as Record<string, Json>).map(([name, value]) => [name, String(value)])
    )
  }
}
