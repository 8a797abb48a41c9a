import { mayWatch } from '../client/contract.js'
import { need } from '../login/credential.js'
import { Login } from '../login/login.js'
import { announcement } from '../parts/announce.js'
import { Boundary } from '../parts/boundary.js'
import { client, type Reconnector } from '../state/connection.js'
import type { MessageLog } from '../state/messages.js'
import { route } from '../state/route.js'
import { Confirm, Try } from '../try/try.js'
import { History } from '../try/history.js'
import { Header } from './header.js'
import { late } from '../parts/late.js'
import { leave } from './leave.js'
import { Messages } from './messages.js'
import { StatusNotes } from './status.js'

const Watch = late(async () => (await import('./late-views.js')).Watch)
const Operate = late(async () => (await import('./late-views.js')).Operate)

interface AppProps { connection: Reconnector, log: MessageLog }

/** The whole page. */
export function App ({ connection, log }: AppProps) {
  return (
    <>
      <button type='button' class='skip' onClick={() => document.getElementById('main')?.focus()}>
        Skip to the content
      </button>
      <Header connection={connection} log={log} />
      <main id='main' tabIndex={-1}>
        <StatusNotes connection={connection} />
        <Login forgetAll={() => leave(connection, log)} />
        {need.value === undefined && (
          <Boundary place={route.value}>
            <View log={log} />
          </Boundary>
        )}
      </main>
      <Confirm />
      <LiveRegion />
    </>
  )
}

function View ({ log }: { log: MessageLog }) {
  switch (route.value.view) {
    case 'history':
      return <History />
    case 'messages':
      return <Messages log={log} />
    case 'watch':
      return client.value === undefined || mayWatch(client.value)
        ? (
          <Watch client={client.value} />
          )
        : (
          <p class='card'>
            This gateway does not let you watch: that needs the scope <code>admin</code>.
          </p>
          )
    case 'approvals':
    case 'tasks':
      return <Operate client={client.value} view={route.value.view} />
    case 'try':
      return <Try />
  }
}

/** Speaks what `announce` is given, when the reader pauses. The page has one. */
function LiveRegion () {
  const { id, text } = announcement.value
  return <div class='visually-hidden' role='status' aria-live='polite'><span key={id}>{text}</span></div>
}
