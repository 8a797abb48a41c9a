import { useSignal } from '@preact/signals'
import { useMemo } from 'preact/hooks'
import { CopyButton, SaveButton } from '../parts/buttons.js'
import { ServerText } from '../parts/server-text.js'
import { Time } from '../parts/time.js'
import { duration } from '../parts/words.js'
import {
  asLines,
  droppedMessages,
  MAX_MESSAGES,
  messages,
  shownMessage,
  type Message,
  type MessageLog
} from '../state/messages.js'

/** The newest that are drawn; the rest is found by the filter, and exported. */
const MAX_DRAWN = 300

/** Every message of this tab, raw but for what is usually secret. */
export function Messages ({ log }: { log: MessageLog }) {
  const typed = useSignal('')
  const opened = useSignal<number | undefined>(undefined)
  const all = messages.value
  const found = useMemo(
    () => all.filter(({ method }) => method.toLowerCase().includes(typed.value.toLowerCase())),
    [all, typed.value]
  )
  const shown = found.slice(-MAX_DRAWN).reverse()
  const open = all.find(({ number }) => number === opened.value)
  return (
    <section class='stack'>
      <div class='row spread'>
        <h1>Messages</h1>
        <div class='row'>
          <SaveButton
            content={() => asLines(found)}
            name='patchbay-messages.jsonl'
            label='Export as JSON lines'
            disabled={all.length === 0}
          />
          <button type='button' disabled={all.length === 0} onClick={() => log.clear()}>
            Clear
          </button>
        </div>
      </div>
      <p class='quiet small'>
        The last {MAX_MESSAGES.toLocaleString('en')} messages of this tab, newest first, without what is usually
        secret. {droppedMessages.value > 0 && `${droppedMessages.value.toLocaleString()} earlier ones are not kept.`}
      </p>
      <label class='filter'>
        <span class='visually-hidden'>Filter by method</span>
        <input
          type='search'
          placeholder='Filter by method'
          value={typed.value}
          onInput={event => { typed.value = event.currentTarget.value }}
        />
      </label>
      <div class='messages'>
        <ol class='message-list' aria-label='Messages' tabIndex={0}>
          {shown.map(message => (
            <Row
              key={message.number}
              message={message}
              isOpen={message.number === opened.value}
              open={() => { opened.value = message.number }}
            />
          ))}
        </ol>
        {open === undefined && <p class='quiet nothing card'>Choose a message to see all of it.</p>}
        {open !== undefined && <OpenMessage message={open} />}
      </div>
    </section>
  )
}

const ARROWS = { sent: '→', received: '←' } as const

function Row ({ message, isOpen, open }: { message: Message, isOpen: boolean, open: () => void }) {
  const { at, direction, method, kind, ms } = message
  return (
    <li>
      <button type='button' class='plain message' aria-pressed={isOpen} onClick={open}>
        <span class={`arrow ${direction}`}>
          <span aria-hidden='true'>{ARROWS[direction]}</span>
          <span class='visually-hidden'>{direction}</span>
        </span>
        <code>
          <ServerText text={method} />
        </code>
        <span class={kind === 'error' ? 'badge bad' : 'quiet'}>{kind}</span>
        <span class='quiet number'>{ms === undefined ? '' : duration(ms)}</span>
        <span class='quiet'>
          <Time at={at} />
        </span>
      </button>
    </li>
  )
}

function OpenMessage ({ message }: { message: Message }) {
  const text = useMemo(() => shownMessage(message), [message])
  return (
    <section class='card stack' aria-label='One message'>
      <div class='row spread'>
        <h2>
          {message.direction === 'sent' ? 'Sent' : 'Received'}: <ServerText text={message.method} />
        </h2>
        <CopyButton text={text} />
      </div>
      <p class='quiet small'>{message.size.toLocaleString()} characters</p>
      <ServerText block text={text.slice(0, MAX_TEXT)} />
      {text.length > MAX_TEXT && (
        <p class='note'>
          The first {MAX_TEXT.toLocaleString()} of {text.length.toLocaleString()} characters. Copy it to see the rest.
        </p>
      )}
    </section>
  )
}

const MAX_TEXT = 100_000
