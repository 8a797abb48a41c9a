import { useContext, useEffect, useState } from 'preact/hooks'
import { FormContext, type ShapedProps } from './form-context.js'
import { isSecret } from '../model/secret.js'
import { textOf } from '../model/schema.js'
import { namesOf } from '../model/value.js'

const TYPES = new Map([['email', 'email'], ['uri', 'url'], ['url', 'url'], ['date', 'date']])
const DATE = /^\d{4}-\d\d-\d\d$/
const PAUSE_MS = 150

/** A text. Typing makes it a value; an empty text is a value, too. */
export function TextControl ({ shape, value, onChange, id, at, aria, optional }: ShapedProps) {
  const { complete } = useContext(FormContext)
  const text = typeof value === 'string' ? value : ''
  const type = TYPES.get(textOf(shape.schema.format) ?? '')
  const shared = { id, ...aria, value: text, spellcheck: false, autocomplete: 'off' }
  if (isSecret(shape.schema)) return <SecretInput {...shared} onText={onChange} />
  // A date that a browser cannot read would not be shown.
  if (type === 'date' && (text === '' || DATE.test(text))) {
    return (
      <input
        {...shared}
        type='date'
        onInput={({ currentTarget }) =>
          onChange(currentTarget.value === '' && optional ? undefined : currentTarget.value)}
      />
    )
  }
  const name = namesOf(at)
  if (complete !== undefined && name.length === 1) {
    return <CompletedInput {...shared} onText={onChange} suggest={typed => complete(name[0] ?? '', typed)} />
  }
  if (type !== undefined && type !== 'date' && !text.includes('\n')) {
    return (
      <input
        {...shared}
        type='text'
        inputMode={type === 'email' ? 'email' : 'url'}
        onInput={({ currentTarget }) => onChange(currentTarget.value)}
      />
    )
  }
  return (
    <textarea
      {...shared}
      rows={1}
      class='grows'
      title='Shift+Enter breaks the line'
      onInput={({ currentTarget }) => onChange(currentTarget.value)}
    />
  )
}

interface InputProps { id: string, value: string, onText: (text: string) => void }

function SecretInput ({ onText, ...shared }: InputProps) {
  const [shown, setShown] = useState(false)
  return (
    <span class='row'>
      <input
        {...shared}
        class='grow'
        type={(shown ? 'text' : 'password') as 'text'}
        autocomplete='off'
        onInput={({ currentTarget }) => onText(currentTarget.value)}
      />
      <button type='button' class='plain' aria-pressed={shown} onClick={() => setShown(!shown)}>
        Show
      </button>
    </span>
  )
}

function CompletedInput ({
  onText,
  suggest,
  ...shared
}: InputProps & { suggest: (typed: string) => Promise<readonly string[]> }) {
  const [suggested, setSuggested] = useState<readonly string[]>([])
  useEffect(() => {
    let over = false
    const timer = setTimeout(() => {
      suggest(shared.value).then(
        found => {
          if (!over) setSuggested(found)
        },
        () => {}
      )
    }, PAUSE_MS)
    return () => {
      over = true
      clearTimeout(timer)
    }
  }, [shared.value])
  return (
    <>
      <input
        {...shared}
        type='text'
        list={`${shared.id}-list`}
        onInput={({ currentTarget }) => onText(currentTarget.value)}
      />
      <datalist id={`${shared.id}-list`}>
        {suggested.map(text => (
          <option key={text} value={text} />
        ))}
      </datalist>
    </>
  )
}
