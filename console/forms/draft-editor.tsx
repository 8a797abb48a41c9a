import { signal } from '@preact/signals'
import type { FieldError } from './check.js'
import { withValue, type Draft } from './draft.js'
import { ErrorSummary } from './error-summary.js'
import type { Complete } from './controls/form-context.js'
import { RawJson } from './raw-json.js'
import { shapeOf } from './model/shape.js'
import { SchemaForm } from './schema-form.js'

/** The JSON beside the form is shown at first where both fit. */
const rawShown = signal(globalThis.matchMedia?.('(min-width: 75rem)').matches ?? true)

interface DraftEditorProps {
  draft: Draft
  onChange: (draft: Draft) => void
  /** Its mistakes: of `readDraft`, `checkInTime` or `refusalErrors`. */
  errors?: readonly FieldError[]
  idPrefix: string
  complete?: Complete | undefined
}

/** A draft as a form and as JSON, each following the other. Where the schema says nothing there is only the JSON. */
export function DraftEditor ({ draft, onChange, errors = [], idPrefix, complete }: DraftEditorProps) {
  const unreadable = draft.problem !== undefined
  const onlyRaw = shapeOf(draft.schema, draft.schema).kind === 'json'
  const raw = onlyRaw || rawShown.value || unreadable
  // The button that was pressed goes away; its counterpart takes the focus once it is drawn.
  const show = (shown: boolean): void => {
    rawShown.value = shown
    requestAnimationFrame(() => document.getElementById(`${idPrefix}-${shown ? 'raw' : 'show'}`)?.focus())
  }
  return (
    <div class='draft-editor'>
      <ErrorSummary errors={errors} idPrefix={idPrefix} />
      {unreadable && !onlyRaw
        ? (
          <p class='note warn small'>
            The JSON cannot be read, so the form shows what it was before. Mend the JSON to go on.
          </p>
          )
        : null}
      <div class={raw && !onlyRaw ? 'beside' : ''}>
        {onlyRaw
          ? null
          : (
            <fieldset disabled={unreadable}>
              <legend class='visually-hidden'>Form</legend>
              <SchemaForm
                schema={draft.schema}
                value={draft.value}
                onChange={value => onChange(withValue(draft, value))}
                errors={errors}
                idPrefix={idPrefix}
                complete={complete}
              />
            </fieldset>
            )}
        {raw
          ? (
            <RawJson
              draft={draft}
              onChange={onChange}
              onHide={onlyRaw || unreadable ? undefined : () => show(false)}
              id={`${idPrefix}-raw`}
            />
            )
          : null}
      </div>
      {raw
        ? null
        : (
          <div>
            <button type='button' class='plain' id={`${idPrefix}-show`} onClick={() => show(true)}>
              Show JSON
            </button>
          </div>
          )}
    </div>
  )
}
