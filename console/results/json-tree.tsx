import { useState } from 'preact/hooks'
import type { Json } from '../client/contract.js'
import { ServerText } from '../parts/server-text.js'

/** So many members are drawn before a person asks for more. */
const PAGE = 100
/** So many characters of a text are drawn before a person asks for the rest. */
const MAX_TEXT = 2_000

/** A value as a tree that opens. Members are made when they are seen. */
export function JsonTree ({ value, name, open = false }: { value: Json, name?: string | undefined, open?: boolean }) {
  if (typeof value !== 'object' || value === null) {
    return (
      <div class='leaf'>
        <Name name={name} />
        <Leaf value={value} />
      </div>
    )
  }
  return <Branch value={value} name={name} open={open} />
}

function Branch ({
  value,
  name,
  open
}: {
  value: Json[] | { [name: string]: Json }
  name: string | undefined
  open: boolean
}) {
  const [opened, setOpened] = useState(open)
  const count = Array.isArray(value) ? value.length : Object.keys(value).length
  return (
    <details open={opened} onToggle={event => setOpened(event.currentTarget.open)}>
      <summary>
        <Name name={name} />
        <span class='quiet'>
          {Array.isArray(value) ? `[${counted(count, 'item')}]` : `{${counted(count, 'field')}}`}
        </span>
      </summary>
      {opened ? <Members value={value} /> : null}
    </details>
  )
}

function Members ({ value }: { value: Json[] | { [name: string]: Json } }) {
  const [shown, setShown] = useState(PAGE)
  const names = Object.keys(value)
  return (
    <div class='members'>
      {names.slice(0, shown).map(name => (
        <JsonTree key={name} name={name} value={Reflect.get(value, name)} />
      ))}
      {names.length > shown
        ? (
          <button type='button' onClick={() => setShown(shown + PAGE)}>
            Show {PAGE} more of {names.length - shown}
          </button>
          )
        : null}
    </div>
  )
}

function Name ({ name }: { name: string | undefined }) {
  return name === undefined ? null : <><span class='name'><ServerText text={name} /></span>: </>
}

function Leaf ({ value }: { value: string | number | boolean | null }) {
  const [whole, setWhole] = useState(false)
  if (typeof value !== 'string') return <span class='scalar'>{String(value)}</span>
  if (whole || value.length <= MAX_TEXT) return <>"<ServerText text={value} />"</>
  return (
    <>
      "<ServerText text={value.slice(0, MAX_TEXT)} />…{' '}
      <button type='button' class='plain' onClick={() => setWhole(true)}>
        Show all {value.length} characters
      </button>
    </>
  )
}

const counted = (count: number, word: string): string => `${count} ${word}${count === 1 ? '' : 's'}`
