import { useState } from 'preact/hooks'
import { ServerText } from '../../parts/server-text.js'
import type { ShapedProps } from './form-context.js'
import type { Choice } from '../model/shape.js'
import { fromJson, print, type Value } from '../model/value.js'
import { choiceIndex } from '../model/variants.js'

/** More choices than this are shown by search. */
const PAGE = 100

/** A choice: its key, its words, and whether the words are the server's. */
type Option = [key: string, label: string, theirs: boolean]

/**
 * One of several: all to be seen when they are few, else a list, with a search when they are many. Left out and null
 * are among them.
 */
export function ChoiceControl ({
  shape,
  value,
  onChange,
  id,
  aria,
  optional,
  required,
  radios
}: ShapedProps & { radios: boolean }) {
  const current =
    value === undefined ? 'absent' : value === null && shape.nullable ? 'null' : stateOf(choiceIndex(shape, value))
  const options: Option[] = [
    ...(optional && (!required || value === undefined)
      ? [['absent', required ? 'not set' : 'left out', false] as Option]
      : []),
    ...shape.choices.map(({ label }, index): Option => [String(index), label, true]),
    ...(shape.nullable ? [['null', 'null', false] as Option] : []),
    ...(current === 'other' ? [['other', print(value), true] as Option] : [])
  ]
  const choose = (chosen: string): void => {
    if (chosen === 'absent') onChange(undefined)
    else if (chosen !== 'other') {
      onChange(chosen === 'null' ? null : fromJson(shape.choices[Number(chosen)]?.value ?? null))
    }
  }
  if (!radios) return <LongSelect {...{ id, aria, options, current, choose }} />
  return (
    <div class='row choices'>
      {options.map(([key, label, theirs]) => (
        <label key={key} class={theirs ? '' : 'quiet'}>
          <input
            type='radio'
            name={id}
            checked={key === current}
            id={key === options[0]?.[0] ? id : undefined}
            onChange={() => choose(key)}
          />
          {theirs ? <ServerText text={label} /> : label}
        </label>
      ))}
    </div>
  )
}

const stateOf = (index: number): string => index === -1 ? 'other' : String(index)

interface SelectProps {
  id: string
  aria: ShapedProps['aria']
  options: Option[]
  current: string
  choose: (key: string) => void
}

function LongSelect ({ id, aria, options, current, choose }: SelectProps) {
  const [search, setSearch] = useState('')
  const found =
    search === '' ? options : options.filter(([, label]) => label.toLowerCase().includes(search.toLowerCase()))
  const shown = found.slice(0, PAGE)
  const kept = options.find(([key]) => key === current)
  if (kept !== undefined && !shown.includes(kept)) shown.unshift(kept)
  return (
    <>
      {options.length > PAGE
        ? (
          <Search {...{ search, setSearch }} shown={Math.min(found.length, PAGE)} found={found.length} />
          )
        : null}
      <select {...aria} id={id} value={current} onChange={({ currentTarget }) => choose(currentTarget.value)}>
        {shown.map(([key, label]) => (
          <option key={key} value={key}>
            {label}
          </option>
        ))}
      </select>
    </>
  )
}

function Search ({
  search,
  setSearch,
  shown,
  found
}: {
  search: string
  setSearch: (text: string) => void
  shown: number
  found: number
}) {
  return (
    <div class='row'>
      <input
        type='search'
        class='grow'
        aria-label='Search the choices'
        placeholder='Search the choices'
        value={search}
        onInput={({ currentTarget }) => setSearch(currentTarget.value)}
      />
      <span class='quiet small' role='status'>
        {shown} of {found} shown
      </span>
    </div>
  )
}

/** Any number of choices, sent in the order of the schema. */
export function SeveralControl ({ shape, value, onChange, id }: ShapedProps) {
  const [search, setSearch] = useState('')
  const chosen = new Set((Array.isArray(value) ? value : []).map(item => choiceIndex(shape, item)))
  const toggle = (index: number): void => {
    if (!chosen.delete(index)) chosen.add(index)
    onChange(shape.choices.flatMap((choice, place): Value[] => chosen.has(place) ? [fromJson(choice.value)] : []))
  }
  const all: Array<[Choice, number]> = shape.choices.map((choice, index) => [choice, index])
  const found = all.filter(([{ label }]) => label.toLowerCase().includes(search.toLowerCase()))
  return (
    <>
      {all.length > PAGE
        ? (
          <Search {...{ search, setSearch }} shown={Math.min(found.length, PAGE)} found={found.length} />
          )
        : null}
      <div class='row choices'>
        {found.slice(0, PAGE).map(([{ label }, index], place) => (
          <label key={index}>
            <input
              type='checkbox'
              id={place === 0 ? id : undefined}
              checked={chosen.has(index)}
              onChange={() => toggle(index)}
            />
            <ServerText text={label} />
          </label>
        ))}
      </div>
    </>
  )
}
