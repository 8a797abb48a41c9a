import { useSignal } from '@preact/signals'
import { useEffect, useLayoutEffect, useRef } from 'preact/hooks'
import type { UpstreamRow } from '../client/watch-batch.js'
import { CutText, ServerText } from '../parts/server-text.js'
import { beginningOf } from '../parts/text.js'
import { ListRemarks, ServerState, StateBadge } from '../servers/server-state.js'
import { now } from '../state/clock.js'
import { status } from '../state/connection.js'
import { filterItems, groupItems, nearestItem, placeOf, type Group } from '../state/filter.js'
import { KINDS, lists, type Item } from '../state/lists.js'
import { writeRoute, type Kind } from '../state/route.js'
import { servers, serversShown } from '../state/servers.js'
import { shortcuts } from '../state/settings.js'

export const PLURALS: Record<Kind, string> = {
  tool: 'Tools',
  resource: 'Resources',
  template: 'Templates',
  prompt: 'Prompts'
}

/** So many characters of a name or description stand in a row. */
const MAX_DRAWN = 200

/** More servers that do not run than this begin folded. */
const MAX_UNFOLDED = 2

/** How many rows are drawn at first, and more with each step. */
const STEP = 60
/** How many are drawn to show the row of what is opened. */
const MAX_BEFORE = 1_000

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
        change={value => {
          typed.value = value
        }}
        kind={kind}
        enter={step => {
          enterList(box.current, step)
        }}
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
      if (
        event.key !== '/' ||
        shortcuts.value === 'off' ||
        event.ctrlKey ||
        event.metaKey ||
        event.altKey ||
        isTyping(event.target)
      ) { return }
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

interface ItemListProps { kind: Kind, typed: string, opened: string | undefined, last: string | undefined }

function ItemList ({ kind, typed, opened, last }: ItemListProps) {
  const list = lists[kind].value
  const limit = useSignal(STEP)
  const box = useRef<HTMLDivElement>(null)
  useEffect(() => { limit.value = STEP }, [typed])
  keepFocus(box)
  const found = filterItems(list.items, typed)
  const groups = groupItems(found, limit.value)
  const shown = kind === 'tool' ? serversShown(servers.value, list.items, typed) : []
  useOpenedInView(
    box,
    opened,
    found.some(({ key }) => key === opened),
    () => {
      limit.value = Math.max(limit.value, Math.min(MAX_BEFORE, placeOf(found, opened) + 1))
    }
  )
  const nearest = found.length === 0 && shown.length === 0 ? nearestItem(list.items, typed) : undefined
  return (
    <div ref={box} class='items' onKeyDown={moveAmongItems}>
      <p class='small quiet found' role='status'>
        {wordsFor(list.state, found.length, list.items.length, kind)}
      </p>
      {nearest !== undefined && (
        <p class='small'>
          Did you mean{' '}
          <a class='item-nearest' href={writeRoute({ view: 'try', kind, name: nearest.key })}>
            <ServerText text={beginningOf(nearest.name, MAX_DRAWN)} />
          </a>
          ?
        </p>
      )}
      {shown.map(server => (
        <ServerGroup key={server.alias} server={server} isFolded={shown.length > MAX_UNFOLDED} />
      ))}
      {list.error !== undefined && (
        <p class='note bad'>
          The list could not be loaded: <CutText text={list.error} />
        </p>
      )}
      {groups.map(group => (
        <GroupView
          key={group.name}
          group={group}
          kind={kind}
          opened={opened}
          last={last}
          isOnly={groups.length === 1 && group.name === ''}
        />
      ))}
      {found.length > limit.value && (
        <More
          left={found.length - limit.value}
          more={() => {
            limit.value += STEP
          }}
        />
      )}
    </div>
  )
}

function wordsFor (state: string, found: number, all: number, kind: Kind): string {
  const things = PLURALS[kind].toLowerCase()
  if (state === 'loading' && all === 0) {
    return status.value.state === 'connected' ? `Loading ${things}…` : 'Not connected.'
  }
  if (state === 'absent' || all === 0) return `The server offers no ${things}.`
  return found === all ? '' : `${found.toLocaleString()} of ${all.toLocaleString()} ${things}`
}

/** A server that does not run, in place of its tools. */
function ServerGroup ({ server, isFolded }: { server: UpstreamRow, isFolded: boolean }) {
  const folded = useSignal(isFolded)
  const { alias, state, lastError } = server
  return (
    <section class='group group-server'>
      <h2>
        <button
          type='button'
          class='plain'
          aria-expanded={!folded.value}
          onClick={() => {
            folded.value = !folded.value
          }}
        >
          <ServerText text={alias} /> <StateBadge state={state} />
        </button>
      </h2>
      {folded.value
        ? (
            lastError !== undefined && (
              <p class='small quiet server-reason'>
                <ServerText text={beginningOf(String(lastError), MAX_DRAWN)} />
              </p>
            )
          )
        : (
          <ServerState server={server} now={now.value} />
          )}
    </section>
  )
}

interface GroupProps { group: Group, kind: Kind, opened: string | undefined, last: string | undefined, isOnly: boolean }

function GroupView ({ group: { name, items, total }, kind, opened, last, isOnly }: GroupProps) {
  const folded = useSignal(false)
  const server =
    kind === 'tool' && name !== ''
      ? servers.value.find(({ alias, state }) => alias === name && state === 'ready')
      : undefined
  const rows = folded.value
    ? null
    : (
      <ul>
        {items.map(item => (
          <Row key={item.key} item={item} kind={kind} isOpened={item.key === opened} isLast={item.key === last} />
        ))}
      </ul>
      )
  if (isOnly) return rows
  return (
    <section class='group'>
      <h2>
        <button
          type='button'
          class='plain'
          aria-expanded={!folded.value}
          onClick={() => {
            folded.value = !folded.value
          }}
        >
          {name === '' ? 'This gateway' : <ServerText text={name} />}{' '}
          <span class='count'>{total.toLocaleString()}</span>
        </button>
      </h2>
      {server !== undefined && !folded.value && (
        <div class='server-state'>
          <ListRemarks server={server} />
        </div>
      )}
      {rows}
    </section>
  )
}

function Row ({ item, kind, isOpened, isLast }: { item: Item, kind: Kind, isOpened: boolean, isLast: boolean }) {
  const { key, name, title, description, group } = item
  const own = beginningOf(group === '' ? name : name.slice(group.length + 2), MAX_DRAWN)
  return (
    <li>
      <a
        class='item'
        href={writeRoute({ view: 'try', kind, name: key })}
        {...(isOpened ? { 'aria-current': 'true' } : {})}
        {...(isLast ? { 'data-last': '' } : {})}
      >
        <span class='item-name'>
          <ServerText text={title === undefined ? own : beginningOf(title, MAX_DRAWN)} />
        </span>
        {title !== undefined && title !== own && (
          <code class='item-code'>
            <ServerText text={own} />
          </code>
        )}
        {description !== undefined && (
          <span class='item-description'>
            <ServerText text={beginningOf(description, MAX_DRAWN)} />
          </span>
        )}
      </a>
    </li>
  )
}

/**
 * Brings the row of what is opened into view when that changes, or when its list has come. `draw` draws as many rows as
 * that needs.
 */
function useOpenedInView (
  box: { current: HTMLDivElement | null },
  opened: string | undefined,
  isListed: boolean,
  draw: () => void
): void {
  useEffect(() => {
    if (opened === undefined || !isListed) return
    draw()
    const frame = requestAnimationFrame(() =>
      box.current?.querySelector('a.item[aria-current]')?.scrollIntoView({ block: 'nearest' })
    )
    return () => cancelAnimationFrame(frame)
  }, [opened, isListed])
}

/** The arrow keys go from item to item; up from the first, to the filter. */
function moveAmongItems (event: KeyboardEvent & { currentTarget: HTMLElement }): void {
  if (
    (event.key !== 'ArrowDown' && event.key !== 'ArrowUp') ||
    !(event.target instanceof HTMLElement) ||
    !event.target.classList.contains('item')
  ) { return }
  event.preventDefault()
  const all = [...event.currentTarget.querySelectorAll<HTMLElement>('a.item')]
  const place = all.indexOf(event.target) + (event.key === 'ArrowDown' ? 1 : -1)
  if (place < 0) event.currentTarget.parentElement?.querySelector<HTMLElement>('.filter input')?.focus()
  else all[place]?.focus()
}

/** Draws more rows when it comes into sight, and by hand. */
function More ({ left, more }: { left: number, more: () => void }) {
  const button = useRef<HTMLButtonElement>(null)
  useEffect(() => {
    const watcher = new IntersectionObserver(entries => { if (entries.some(entry => entry.isIntersecting)) more() })
    if (button.current !== null) watcher.observe(button.current)
    return () => watcher.disconnect()
  })
  return (
    <button ref={button} type='button' class='plain' onClick={more}>
      Show more ({left.toLocaleString()} left)
    </button>
  )
}

/** A row that had the focus and is gone gives it to the list, not to the page. */
function keepFocus (box: { current: HTMLDivElement | null }): void {
  const had = useRef(false)
  had.current = box.current?.contains(document.activeElement) === true
  useLayoutEffect(() => {
    if (had.current && document.activeElement === document.body) box.current?.querySelector('a')?.focus()
  })
}

/** Where one column is shown at a time, opening and going back hides what had the focus: it goes on to `next`. */
export function focusIfLost (next: () => HTMLElement | null): () => void {
  const frame = requestAnimationFrame(() => {
    const active = document.activeElement
    if (active === null || active === document.body || !active.checkVisibility()) next()?.focus()
  })
  return () => cancelAnimationFrame(frame)
}
