import { useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import type { JsonObject } from '../client/contract.js'
import { ServerText } from '../parts/server-text.js'
import type { Call } from '../state/calls.js'
import { client } from '../state/connection.js'
import { lists, type Item } from '../state/lists.js'
import { pageUriOf, readPage, sandboxUrl, type Page } from './page.js'
import { Sandbox } from './sandbox-frame.js'

interface AppProps {
  call: Call
  /** The tool that was called. */
  item: Item
  result: JsonObject
}

/** Shows the page of a tool in a sandbox, or says why it cannot. */
export function AppFrame ({ call, item, result }: AppProps) {
  const uri = pageUriOf(item.raw)
  const page = useSignal<Page | undefined>(undefined)
  const problem = useSignal('')
  useEffect(() => {
    const current = client.peek()
    if (uri === undefined || current === undefined) return
    const listed = lists.resource.peek().items.find(({ key }) => key === uri)?.raw
    readPage(current, uri, listed).then(
      read => { page.value = read },
      (error: Error) => { problem.value = error.message }
    )
  }, [])
  if (uri === undefined) return null
  const url = page.value && sandboxUrl(location.href, page.value.domains)
  return (
    <section class='app stack' aria-label='App'>
      <h3>App</h3>
      {problem.value !== '' && (
        <p class='note warn'>
          Its page <code><ServerText text={uri} /></code> cannot be shown: <ServerText text={problem.value} />.
        </p>
      )}
      {page.value !== undefined && url === undefined && <NoSandbox />}
      {page.value !== undefined && url !== undefined && (
        <Sandbox call={call} item={item} result={result} page={page.value} url={url} />
      )}
    </section>
  )
}

/** Explains that there is no other origin for apps here. */
function NoSandbox () {
  return (
    <p class='note'>
      Apps are shown in a frame on another origin than this page. There is one only where the console is opened as
      127.0.0.1 or localhost, on the machine of the gateway.
    </p>
  )
}
