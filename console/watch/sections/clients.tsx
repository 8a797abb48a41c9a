import { ServerText } from '../../parts/server-text.js'
import { ago } from '../../parts/words.js'
import type { ClientRow } from '../../client/watch-batch.js'
import { count, counted } from '../words.js'
import { Scroll, Section, useFirstRows, type SectionProps } from './section.js'

/** Who is connected, with a session or without. */
export function ClientsSection ({ feed, now }: SectionProps) {
  const { total, sessions, rows } = feed.clients.value
  const all = `${counted(total, 'client')}, ${counted(sessions, 'session')}`
  const { first, button } = useFirstRows(rows)
  return (
    <Section title='Clients' aside={rows.length < total ? `${count(rows.length)} of ${all}` : all}>
      {rows.length === 0
        ? (
          <p class='quiet'>No client is connected.</p>
          )
        : (
          <Scroll label='Connected clients'>
            <ul class='watch-rows'>
              {first.map(row => (
                <Row key={row.key} row={row} now={now.value} />
              ))}
            </ul>
            {button}
          </Scroll>
          )}
    </Section>
  )
}

function Row ({ row, now }: { row: ClientRow, now: number }) {
  const { client, principal, transport, revision, session, since, inFlight, lastCallAt, own } = row
  const facts = [
    `connected ${ago(now - since)}`,
    `${count(inFlight)} in flight`,
    lastCallAt === undefined ? 'no call yet' : `last call ${ago(now - lastCallAt)}`
  ]
  return (
    <li class={own === true ? 'watch-row watch-client own' : 'watch-row watch-client'}>
      <span class='watch-subject'>
        <strong>{client === undefined ? 'not named' : <ServerText text={client} />}</strong>
        {own === true
          ? (
            <>
              {' '}
              <span class='badge'>this page</span>
            </>
            )
          : null}
      </span>
      <span class='watch-caller'>
        {principal === undefined ? <span class='quiet'>anonymous</span> : <ServerText text={principal} />}
      </span>
      <span class='watch-caller'>
        <ServerText text={revision === undefined ? transport : `${transport} · ${revision}`} />
        {session
          ? (
            <>
              {' '}
              <span class='badge'>session</span>
            </>
            )
          : null}
      </span>
      <span class='quiet'>{facts.join(', ')}</span>
    </li>
  )
}
