import { useRef } from 'preact/hooks'
import { CopyButton } from '../parts/buttons.js'
import { formatDraft, problemWords, withText, type Draft } from './draft.js'
import { hasMasks } from './model/mask.js'

interface RawJsonProps {
  draft: Draft
  onChange: (draft: Draft) => void
  /** Undefined where it has to be seen. */
  onHide: (() => void) | undefined
  id: string
}

/** A draft as text. What is typed stays as it is until a person asks for order. */
export function RawJson ({ draft, onChange, onHide, id }: RawJsonProps) {
  const area = useRef<HTMLTextAreaElement>(null)
  const { text, masks, problem } = draft
  const hidesSecrets = hasMasks(text, masks)
  const goTo = (offset: number): void => {
    area.current?.focus()
    area.current?.setSelectionRange(offset, offset + 1)
  }
  return (
    <div class='raw-json'>
      <div class='row spread'>
        <label for={id}>JSON</label>
        <span class='row'>
          <button
            type='button'
            class='plain'
            disabled={problem !== undefined}
            onClick={() => onChange(formatDraft(draft))}
          >
            Format
          </button>
          <CopyButton text={text} />
          {onHide !== undefined && (
            <button type='button' class='plain' onClick={onHide}>
              Hide<span class='visually-hidden'> JSON</span>
            </button>
          )}
        </span>
      </div>
      <textarea
        ref={area}
        id={id}
        class='code'
        rows={8}
        spellcheck={false}
        autocomplete='off'
        value={text}
        aria-invalid={problem !== undefined}
        aria-describedby={`${hidesSecrets ? `${id}-masks ` : ''}${id}-problem`}
        onInput={({ currentTarget }) => onChange(withText(draft, currentTarget.value))}
      />
      {hidesSecrets && (
        <p id={`${id}-masks`} class='quiet small'>
          Secret values stand here as dots, and are sent as they are. Write over the dots to change one.
        </p>
      )}
      <p id={`${id}-problem`} class='error small' role='status'>
        {problem !== undefined && (
          <>
            {problemWords(problem)}{' '}
            <button type='button' class='plain' onClick={() => goTo(problem.offset)}>
              Go there
            </button>
          </>
        )}
      </p>
    </div>
  )
}
