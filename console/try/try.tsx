import { Boundary } from '../parts/boundary.js'
import { CutText } from '../parts/text/cut-text.js'
import { client } from '../state/connection.js'
import { route } from '../state/route.js'
import { Lists } from './lists.js'
import { Opened } from './opened.js'

/** What the server offers on one side, and the thing that is opened on the other. */
export function Try () {
  const current = route.value
  if (current.view !== 'try') return null
  const { kind = 'tool', name } = current
  return (
    <div class={name === undefined ? 'try' : 'try has-opened'}>
      {name === undefined && <h1 class='visually-hidden'>Try</h1>}
      <Lists kind={kind} opened={name} />
      <div class='opened'>
        {name === undefined ? <Nothing /> : <Boundary key={`${kind} ${name}`}><Opened kind={kind} name={name} /></Boundary>}
      </div>
    </div>
  )
}

/** What the server says of itself, while nothing is opened. */
function Nothing () {
  const server = client.value?.server
  return (
    <div class='card stack nothing'>
      <p class='quiet'>Choose something in the list to see what it does, and to try it.</p>
      {server?.instructions !== undefined && <section class='stack'><h2>Instructions of the server</h2><CutText block text={server.instructions} /></section>}
    </div>
  )
}
