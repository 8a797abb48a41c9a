import { ServerText } from '../../parts/server-text.js'
import type { Subject } from '../../client/watch-batch.js'
import { targetOf } from '../words.js'

/** The target of a call: the name of the tool, prompt or resource, and the method beside it. */
export function SubjectNames (subject: Subject) {
  const { method, upstream } = subject
  const target = targetOf(subject)
  return (
    <span class='watch-subject'>
      {target === undefined
        ? null
        : (
          <>
            <strong>
              <ServerText text={target} />
            </strong>{' '}
          </>
          )}
      <span class={target === undefined ? undefined : 'quiet'}>
        {method === undefined ? 'unknown method' : <ServerText text={method} />}
      </span>
      {upstream === undefined
        ? null
        : (
          <span class='quiet'>
            {' '}
            at <ServerText text={upstream} />
          </span>
          )}
    </span>
  )
}

interface Caller {
  principal?: string | undefined
  client?: string | undefined
  transport: string
  revision?: string | undefined
  own?: true | undefined
}

/** Who calls, from where: principal, client, transport and revision, as far as they are known. */
export function CallerNames ({ principal, client, transport, revision, own }: Caller) {
  const names = [principal, client, transport, revision].filter(name => name !== undefined)
  return (
    <span class='watch-caller quiet small'>
      {own === true ? <span class='badge'>this page</span> : null}
      {names.map((name, index) => <span key={index}>{index === 0 ? null : ' · '}<ServerText text={name} /></span>)}
    </span>
  )
}
