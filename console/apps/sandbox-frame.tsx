import { signal, type Signal } from '@preact/signals'
import { useEffect, useRef, useState } from 'preact/hooks'
import { isObject, type JsonObject } from '../client/contract.js'
import { CutText, ServerText } from '../parts/server-text.js'
import { webUrl } from '../parts/text.js'
import { MAX_LINE, shorten } from '../state/kept-text.js'
import type { Call } from '../state/calls.js'
import { client } from '../state/connection.js'
import { chosenView, gatewayViews } from '../state/gateway-views.js'
import { lists, type Item } from '../state/lists.js'
import { theme } from '../state/settings.js'
import { isDestructive } from '../try/actions.js'
import { AppHost, Refused, type Start } from './host.js'
import { MEMBERS, type Page } from './page.js'
import { resourceFor, toolFor, type Reach } from './same-server.js'

/** In pixels. */
const HEIGHT = { first: 150, least: 40, most: 800 }
/** How long the sandbox may take, in milliseconds, before the page says that it has not come. */
const PATIENCE_MS = 10_000
const MAX_LINES = 50

interface SandboxProps { call: Call, item: Item, result: JsonObject, page: Page, url: URL }

/** Waits for the user: to open a page, or to call a tool that destroys something. */
interface Asked { words: string, what: string, button: string, answer: (isAllowed: boolean) => void }

/** State of a frame, for its view. */
const newState = () => ({
  height: signal(HEIGHT.first),
  asked: signal<Asked | undefined>(undefined),
  lines: signal<readonly string[]>([]),
  stage: signal<'waiting' | 'late' | 'ready' | 'closed'>('waiting')
})

type State = ReturnType<typeof newState>

/** The frame of one app, what it asks its user, and what it did. */
export function Sandbox (props: SandboxProps) {
  const { item, page, url } = props
  const frame = useRef<HTMLIFrameElement>(null)
  const [state] = useState(newState)
  const [app] = useState(() => hostOf(props, state, message =>
    frame.current?.contentWindow?.postMessage(message, url.origin)))
  useEffect(() => {
    const receive = ({ source, origin, data }: MessageEvent<unknown>): void => {
      if (source !== null && source === frame.current?.contentWindow && origin === url.origin) app.receive(data)
    }
    addEventListener('message', receive)
    const timer = setTimeout(() => { if (state.stage.peek() === 'waiting') state.stage.value = 'late' }, PATIENCE_MS)
    return () => {
      clearTimeout(timer)
      void app.tearDown('The console shows something else')
      removeEventListener('message', receive)
      state.asked.peek()?.answer(false)
    }
  }, [])
  if (state.stage.value === 'closed') return <p class='quiet'>The app was closed.</p>
  const close = async (): Promise<void> => {
    await app.tearDown('Its user closed it')
    state.stage.value = 'closed'
  }
  return (
    <>
      {state.stage.value === 'late' && (
        <p class='note warn'>
          The sandbox at <code>{url.origin}</code> does not answer. Can this browser reach the gateway there?
        </p>
      )}
      <iframe
        ref={frame}
        class={page.hasBorder ? 'bordered' : ''}
        title={`App of ${item.key}`}
        sandbox='allow-scripts allow-same-origin allow-forms'
        referrerpolicy='no-referrer'
        height={state.height.value}
        src={url.href}
      />
      <Question asked={state.asked.value} />
      <div class='row spread'>
        <Policy page={page} />
        <button type='button' onClick={() => { void close() }}>Close the app</button>
      </div>
      <Lines lines={state.lines.value} />
    </>
  )
}

function hostOf (
  { call, item, result, page }: SandboxProps,
  { height, asked, lines, stage }: State,
  send: (message: JsonObject) => void
): AppHost {
  const log = (line: string): void => { lines.value = [...lines.peek(), shorten(line, MAX_LINE)].slice(-MAX_LINES) }
  return new AppHost(startOf(call, item, result, page), {
    send,
    callTool: async (name, args) => await callTool(reachOf(item), name, args, asked, log),
    readResource: async uri => {
      const own = resourceFor(reachOf(item), uri)
      log(`read ${JSON.stringify(uri)}`)
      if (own === undefined) throw new Refused('This resource may be of another server')
      return await connected().request('resources/read', { uri: own })
    },
    openLink: async text => await openLink(text, asked),
    resize: wanted => { height.value = Math.min(Math.max(Math.ceil(wanted), HEIGHT.least), HEIGHT.most) },
    log,
    ready: () => { stage.value = 'ready' }
  })
}

function Question ({ asked }: { asked: Asked | undefined }) {
  if (asked === undefined) return null
  const { words, what, button, answer } = asked
  return (
    <div class='question stack' role='group' aria-label='The app asks'>
      <p>{words}</p>
      <p class='url'><code><CutText text={what} /></code></p>
      <div class='row'>
        <button type='button' onClick={() => answer(false)}>Refuse</button>
        <button type='button' class='danger' onClick={() => answer(true)}>{button}</button>
      </div>
    </div>
  )
}

/** Says what the page may load, and what it asked for and did not get. */
function Policy ({ page: { domains, refused } }: { page: Page }) {
  const all = [...new Set(MEMBERS.flatMap(member => domains[member]))]
  return (
    <p class='small quiet'>
      {all.length === 0 ? 'It may reach no other host.' : <>It may reach <ServerText text={all.join(', ')} />.</>}
      {refused.length > 0 && <> Left out, as they are no origins: <ServerText text={refused.join(', ')} />.</>}
    </p>
  )
}

function Lines ({ lines }: { lines: readonly string[] }) {
  if (lines.length === 0) return null
  return (
    <details>
      <summary class='small'>What the app did</summary>
      <ol class='log-lines'>{lines.map((line, index) => <li key={index}><ServerText text={line} /></li>)}</ol>
    </details>
  )
}

function startOf ({ params }: Call, { raw }: Item, result: JsonObject, { html, domains }: Page): Start {
  const system = matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light'
  return {
    html,
    arguments: isObject(params.arguments) ? params.arguments : {},
    result,
    capabilities: {
      openLinks: {},
      serverTools: {},
      serverResources: {},
      logging: {},
      sandbox: { permissions: {}, csp: domains }
    },
    context: {
      toolInfo: { tool: raw },
      theme: theme.peek() === 'system' ? system : theme.peek(),
      displayMode: 'inline',
      availableDisplayModes: ['inline'],
      containerDimensions: { maxHeight: HEIGHT.most },
      locale: navigator.language,
      timeZone: Intl.DateTimeFormat().resolvedOptions().timeZone,
      platform: 'web'
    }
  }
}

function reachOf (shown: Item): Reach {
  const view = gatewayViews.peek().find(({ name }) => name === chosenView.peek())
  return { shown, tools: lists.tool.peek().items, isView: view?.kind === 'view' }
}

function connected () {
  const current = client.peek()
  if (current === undefined) throw new Refused('The console is not connected to the gateway')
  return current
}

async function callTool (
  reach: Reach,
  name: unknown,
  args: JsonObject,
  asked: Signal<Asked | undefined>,
  log: (line: string) => void
): Promise<JsonObject> {
  const tool = toolFor(reach, name)
  log(`called ${JSON.stringify(name)}${tool === undefined ? ', and was refused' : ''}`)
  if (tool === undefined) {
    throw new Refused(`The server of this app has no tool ${JSON.stringify(name)} that apps may call`)
  }
  if (isDestructive(tool.raw)) {
    await ask(asked, {
      words: 'The app wants to call a tool that says that it destroys something:',
      what: `${tool.key} ${JSON.stringify(args)}`,
      button: 'Call it'
    })
  }
  return await connected().request('tools/call', { name: tool.key, arguments: args })
}

async function openLink (text: string, asked: Signal<Asked | undefined>): Promise<void> {
  const url = webUrl(text)
  if (url === undefined) throw new Refused('Only http and https addresses without a name or password are opened')
  await ask(asked, { words: 'The app asks you to open this address:', what: url.href, button: `Open ${url.host}` })
  window.open(url.href, '_blank', 'noopener,noreferrer')
}

/** Resolves when the user allows it. The page asks one thing at a time. */
async function ask (asked: Signal<Asked | undefined>, question: Omit<Asked, 'answer'>): Promise<void> {
  if (asked.peek() !== undefined) throw new Refused('The app asks its user something else already')
  const isAllowed = await new Promise<boolean>(resolve => { asked.value = { ...question, answer: resolve } })
  asked.value = undefined
  if (!isAllowed) throw new Refused('The user refused')
}
