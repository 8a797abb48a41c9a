import { useSignal } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import { REVISIONS, mayWatch } from '../client/contract.js'
import { loginKind } from '../login/credential.js'
import { Dialog } from '../parts/dialog.js'
import { ServerText } from '../parts/server-text.js'
import { gatewayAhead, isOpen, proposals } from '../state/approvals.js'
import { calls, isRunning } from '../state/calls.js'
import { now } from '../state/clock.js'
import { client, era, status, type Reconnector } from '../state/connection.js'
import { chooseView, chosenView, gatewayViews, readViews, type GatewayView } from '../state/gateway-views.js'
import type { MessageLog } from '../state/messages.js'
import { route, writeRoute, type Route } from '../state/route.js'
import { shortcuts, theme, type Theme } from '../state/settings.js'
import { reachOf } from '../state/tasks.js'
import { leave } from './leave.js'
import { StatusLine } from './status.js'

/** The name of the gateway, the views, the connection. */
export function Header ({ connection, log }: { connection: Reconnector, log: MessageLog }) {
  return (
    <header class='top'>
      <div class='top-brand'>
        <Mark />
        <strong>Patchbay</strong>
        <Server />
      </div>
      <Navigation />
      <div class='top-tools'>
        <StatusLine />
        <ViewChoice />
        <EraChoice />
        <SettingsButton />
        {loginKind.value !== 'open' && status.value.state !== 'login' && (
          <button type='button' class='plain' onClick={() => leave(connection, log)}>
            Log out
          </button>
        )}
      </div>
    </header>
  )
}

function Server () {
  const server = client.value?.server
  if (server === undefined) return null
  const name = server.title ?? server.name
  return (
    <span class='quiet small top-server'>
      {name.toLowerCase() === 'patchbay' ? null : <ServerText text={name} />} <ServerText text={server.version} />
    </span>
  )
}

function Navigation () {
  const running = calls.value.filter(isRunning).length
  return (
    <nav aria-label='Views'>
      <ul class='tabs'>
        <Tab to={{ view: 'try' }}>Try</Tab>
        <Tab to={{ view: 'history' }}>History{running > 0 && <span class='badge'>{running} running</span>}</Tab>
        <Tab to={{ view: 'messages' }}>Messages</Tab>
        {mayWatch(client.value) && <Tab to={{ view: 'watch' }}>Watch</Tab>}
        {mayWatch(client.value) && <Tab to={{ view: 'approvals' }}>Approvals<WaitingCount /></Tab>}
        {reachOf(client.value) !== 'none' && <Tab to={{ view: 'tasks' }}>Tasks</Tab>}
      </ul>
    </nav>
  )
}

function WaitingCount () {
  const time = now.value + gatewayAhead.value
  const waiting = proposals.value.filter(shown => isOpen(shown, time)).length
  return waiting === 0 ? null : <span class='badge warn'>{waiting}<span class='visually-hidden'> waiting</span></span>
}

function Tab ({ to, children }: { to: Route, children: ComponentChildren }) {
  const isHere = route.value.view === to.view
  return <li><a href={writeRoute(to)} {...(isHere ? { 'aria-current': 'page' } : {})}>{children}</a></li>
}

/** Chooses whose lists the page shows. For operators of a gateway with more than one view. */
function ViewChoice () {
  const views = gatewayViews.value
  if (views.length < 2 || !views.some(({ kind }) => kind === 'all')) return null
  const refresh = (): void => {
    if (client.value !== undefined) readViews(client.value).then(rows => { gatewayViews.value = rows }, () => {})
  }
  const isGone = !views.some(({ name }) => name === chosenView.value)
  return (
    <label class='era'>
      <span class='visually-hidden'>View of the gateway</span>
      <select
        value={chosenView.value ?? ''}
        onFocus={refresh}
        onChange={event => {
          const { value } = event.currentTarget
          chooseView(value === '' ? undefined : value)
        }}
      >
        <option value=''>Everything</option>
        {isGone && <option value={chosenView.value}>{chosenView.value} (gone)</option>}
        <ViewOptions label='Views' views={views.filter(({ kind }) => kind === 'view')} />
        <ViewOptions label='Servers' views={views.filter(({ kind }) => kind === 'server')} />
      </select>
    </label>
  )
}

function ViewOptions ({ label, views }: { label: string, views: GatewayView[] }) {
  if (views.length === 0) return null
  return (
    <optgroup label={label}>
      {views.map(({ name, tools }) => (
        <option key={name} value={name}>
          {name} ({tools.toLocaleString()} {tools === 1 ? 'tool' : 'tools'})
        </option>
      ))}
    </optgroup>
  )
}

function EraChoice () {
  return (
    <label class='era'>
      <span class='visually-hidden'>Protocol revision</span>
      <select
        value={era.value}
        onChange={event => {
          era.value = event.currentTarget.value === 'legacy' ? 'legacy' : 'modern'
        }}
      >
        <option value='modern'>{REVISIONS.modern}</option>
        <option value='legacy'>{REVISIONS.legacy}</option>
      </select>
    </label>
  )
}

function SettingsButton () {
  const open = useSignal(false)
  return (
    <>
      <button type='button' class='plain' onClick={() => { open.value = true }}>Settings</button>
      {open.value && <Settings onClose={() => { open.value = false }} />}
    </>
  )
}

/** Three jacks, two of them patched together. */
function Mark () {
  return (
    <svg class='mark' viewBox='0 0 24 24' width='24' height='24' aria-hidden='true'>
      <path d='M5 8c0 10 14 10 14 0' fill='none' stroke='currentColor' stroke-width='2.5' stroke-linecap='round' />
      <circle cx='5' cy='6' r='3' fill='currentColor' />
      <circle cx='12' cy='6' r='2.25' fill='none' stroke='currentColor' stroke-width='1.5' />
      <circle cx='19' cy='6' r='3' fill='currentColor' />
    </svg>
  )
}

const THEMES: Record<Theme, string> = { system: 'As the system', light: 'Light', dark: 'Dark' }

/** Choices that this browser keeps. */
function Settings ({ onClose }: { onClose: () => void }) {
  return (
    <Dialog title='Settings' onClose={onClose}>
      <fieldset class='stack'>
        <legend>Colours</legend>
        <div class='row'>
          {Object.entries(THEMES).map(([value, words]) => (
            <label key={value} class='choice'>
              <input
                type='radio'
                name='theme'
                checked={theme.value === value}
                onChange={() => {
                  theme.value = value as Theme
                }}
              />{' '}
              {words}
            </label>
          ))}
        </div>
      </fieldset>
      <label class='choice'>
        <input
          type='checkbox'
          checked={shortcuts.value === 'on'}
          onChange={event => {
            shortcuts.value = event.currentTarget.checked ? 'on' : 'off'
          }}
        />{' '}
        The key <kbd>/</kbd> goes to the filter
      </label>
      <div class='row'>
        <button type='button' class='primary' autofocus onClick={onClose}>
          Done
        </button>
      </div>
    </Dialog>
  )
}
