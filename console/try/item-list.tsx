import { useSignal } from '@preact/signals'
import { useEffect, useRef } from 'preact/hooks'
import type { UpstreamRow } from '../client/watch-batch.js'
import { CutText, ServerText } from '../parts/server-text.js'
import { beginningOf } from '../parts/text.js'
import { ListRemarks, ServerState, StateBadge } from '../servers/server-state.js'
import { now } from '../state/clock.js'
import { status } from '../state/connection.js'
import { aboutTokens, tokensOfAll } from '../state/costs.js'
import { filterItems, groupItems, nearestItem, placeOf, type Group } from '../state/filter.js'
import { chosenView } from '../state/gateway-views.js'
import { lists, type Item } from '../state/lists.js'
import { writeRoute, type Kind } from '../state/route.js'
import { servers, serversShown } from '../state/servers.js'
import { moveAmongItems, useKeptFocus, useOpenedInView } from './focus.js'

/** The kinds, as headings and in sentences. */
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

interface ItemListProps { kind: Kind, typed: string, opened: string | undefined, last: string | undefined }

/** The items of one kind that fit the filter, in the groups of their servers. */
export function ItemList ({ kind, typed, opened, last }: ItemListProps) {
  const list = lists[kind].value
  const limit = useSignal(STEP)
  const box = useRef<HTMLDivElement>(null)
  useEffect(() => { limit.value = STEP }, [typed])
  useKeptFocus(box)
  const found = filterItems(list.items, typed)
  const groups = groupItems(found, limit.value)
  // Clients of a view hear nothing of servers that do not run.
  const shown = kind === 'tool' && chosenView.value === undefined ? serversShown(servers.value, list.items, typed) : []
  useOpenedInView(box, opened, found.some(({ key }) => key === opened), () => {
    limit.value = Math.max(limit.value, Math.min(MAX_BEFORE, placeOf(found, opened) + 1))
  })
  const nearest = found.length === 0 && shown.length === 0 ? nearestItem(list.items, typed) : undefined
  return (
    <div ref={box} class='items' onKeyDown={moveAmongItems}>
      <p class='small quiet found' role='status'>
        {wordsFor(list.state, found.length, list.items.length, kind)}
      </p>
      {kind === 'tool' && found.length > 0 && (
        <p class='small quiet'>Their definitions have {aboutTokens(tokensOfAll(found))} (an estimate).</p>
      )}
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
        <More left={found.length - limit.value} more={() => { limit.value += STEP }} />
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
          onClick={() => { folded.value = !folded.value }}
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

function GroupView ({ group: { name, items, total, tokens }, kind, opened, last, isOnly }: GroupProps) {
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
          onClick={() => { folded.value = !folded.value }}
        >
          {name === '' ? 'This gateway' : <ServerText text={name} />}{' '}
          <span class='count'>
            {total.toLocaleString()}
            {kind === 'tool' && `, ${aboutTokens(tokens)}`}
          </span>
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
