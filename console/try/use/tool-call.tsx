import type { ComponentChildren } from 'preact'
import { useId, useMemo } from 'preact/hooks'
import type { Json } from '../../client/contract.js'
import { readDraft, type Draft } from '../../forms/draft.js'
import { DraftEditor } from '../../forms/draft-editor.js'
import { useCheck } from '../../forms/use-check.js'
import { refusalErrors } from '../../forms/refusal.js'
import { submitKeys } from '../../parts/form-parts.js'
import { calls, type Call } from '../../state/calls.js'
import { client } from '../../state/connection.js'
import { draftOf } from '../../state/drafts.js'
import type { Item } from '../../state/lists.js'
import { makeCall, toolCall } from '../actions.js'
import { CallsOf } from '../call/calls-of.js'
import { CopyButtons } from './copy-buttons.js'
import { refusalOf, takesNothing } from './arguments.js'

/** The arguments of a tool, and its calls. */
export function ToolCall ({ item }: { item: Item }) {
  const id = useId()
  const draft = draftOf('tool', item.key, item.raw.inputSchema)
  const { value } = useMemo(() => readDraft(draft.value), [draft.value])
  const call = (sent: Json | undefined): void => { if (sent !== undefined) makeCall(toolCall(item, sent)) }
  const { errors, check } = useCheck(draft.value, call)
  const refused = useRefusal(item, draft.value)
  const submit = (event: Event): void => {
    event.preventDefault()
    check()
  }
  return (
    <>
      <form class='card stack' onSubmit={submit} onKeyDown={submitKeys} noValidate aria-label='Arguments'>
        {takesNothing(item.raw.inputSchema) && <p class='quiet'>This tool takes no arguments.</p>}
        <Fold when={takesNothing(item.raw.inputSchema)}>
          <DraftEditor
            draft={draft.value}
            onChange={changed => {
              draft.value = changed
            }}
            errors={errors.length > 0 ? errors : refused}
            idPrefix={id}
          />
        </Fold>
        <div class='row spread'>
          <div class='row'>
            <button
              type='submit'
              class='primary'
              aria-keyshortcuts='Control+Enter'
              disabled={client.value === undefined}
            >
              Call
            </button>
            {errors.length > 0 && value !== undefined && (
              <button type='button' disabled={client.value === undefined} onClick={() => call(value)}>
                Call anyway
              </button>
            )}
          </div>
          <CopyButtons request={() => (value === undefined ? undefined : toolCall(item, value))} />
        </div>
      </form>
      <CallsOf kind='tool' name={item.key} />
    </>
  )
}

/** Arguments where none are described can still be sent. */
function Fold ({ when, children }: { when: boolean, children: ComponentChildren }) {
  return when ? <details><summary class='small'>Send some anyway</summary>{children}</details> : <>{children}</>
}

/** The reason why the last call was refused, as long as the arguments are the same. */
function useRefusal (item: Item, draft: Draft): ReturnType<typeof refusalErrors> {
  const last: Call | undefined = calls.value.find(({ kind, key }) => kind === 'tool' && key === item.key)
  const outcome = last?.outcome.value
  const sent = JSON.stringify(last?.params.arguments)
  return useMemo(() => {
    const refusal = refusalOf(outcome)
    const { value } = readDraft(draft)
    return refusal === undefined || JSON.stringify(value) !== sent
      ? []
      : refusalErrors(draft, refusal.message, refusal.data)
  }, [outcome, draft, sent])
}
