import { useSignal } from '@preact/signals'
import { useEffect, useRef } from 'preact/hooks'
import { KINDS, lists } from '../state/lists.js'
import { writeRoute, type Kind } from '../state/route.js'
import { shortcuts } from '../state/settings.js'
import { focusIfLost } from './focus.js'
import { ItemList, PLURALS } from './item-list.js'

/** The lists of the server: one is shown, with a filter. */
export function Lists ({ kind, opened }: { kind: Kind, opened: string | undefined }) {
  const typed = useSignal('')
  const box = useRef<HTMLElement>(null)
  const last = useRef(opened)
  useEffect(() => {
    if (opened === undefined && last.current !== undefined) {
      focusIfLost(() => box.current?.querySelector<HTMLElement>('[data-last]') ?? null)
    }
    last.current = opened ?? last.current
  }, [opened])
  return (
    <section ref={box} class='lists' aria-label='What the server offers'>
      <nav aria-label='Kinds'>
        <ul class='kinds'>
          {KINDS.map(each => (
            <li key={each}>
              <a href={writeRoute({ view: 'try', kind: each })} {...(each === kind ? { 'aria-current': 'true' } : {})}>
                {PLURALS[each]} <Count kind={each} />
              </a>
            </li>
          ))}
        </ul>
      </nav>
      <Filter
        typed={typed.value}
        change={value => { typed.value = value }}
        kind={kind}
        enter={step => enterList(box.current, step)}
      />
      <ItemList key={kind} kind={kind} typed={typed.value} opened={opened} last={last.current} />
    </section>
  )
}

function Count ({ kind }: { kind: Kind }) {
  const { state, items } = lists[kind].value
  return (
    <span class='count'>
      {items.length === 0 && state === 'loading' ? '' : items.length.toLocaleString()}
      {state === 'loading' ? '…' : ''}
    </span>
  )
}

/** Goes to the first item of the list, or opens it. */
function enterList (box: HTMLElement | null, step: 'go' | 'open'): void {
  const first = box?.querySelector<HTMLElement>('a.item')
  if (step === 'go') first?.focus()
  else first?.click()
}

interface FilterProps {
  typed: string
  change: (value: string) => void
  kind: Kind
  enter: (step: 'go' | 'open') => void
}

function Filter ({ typed, change, kind, enter }: FilterProps) {
  const input = useRef<HTMLInputElement>(null)
  useEffect(() => {
    const focus = (event: KeyboardEvent): void => {
      if (event.key !== '/' || shortcuts.value === 'off' || isTyping(event.target)) return
      if (event.ctrlKey || event.metaKey || event.altKey) return
      event.preventDefault()
      input.current?.focus()
    }
    addEventListener('keydown', focus)
    return () => removeEventListener('keydown', focus)
  }, [])
  const goOn = (event: KeyboardEvent): void => {
    if (event.isComposing || (event.key !== 'ArrowDown' && event.key !== 'Enter')) return
    event.preventDefault()
    if (event.key === 'ArrowDown') enter('go')
    else if (typed.trim() !== '') enter('open')
  }
  return (
    <label class='filter'>
      <span class='visually-hidden'>Filter {PLURALS[kind].toLowerCase()}</span>
      <input
        ref={input}
        type='search'
        placeholder={`Filter ${PLURALS[kind].toLowerCase()}`}
        value={typed}
        autocomplete='off'
        spellcheck={false}
        onInput={event => change(event.currentTarget.value)}
        onKeyDown={goOn}
      />
      {shortcuts.value === 'on' && <kbd aria-hidden='true'>/</kbd>}
    </label>
  )
}

const isTyping = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement &&
  (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName) || target.closest('dialog') !== null)
