import { useSignal } from '@preact/signals'
import type { Client, JsonObject } from '../client/contract.js'
import { announce } from '../parts/announce.js'
import { HiddenBadge, ServerText } from '../parts/server-text.js'
import { ago, span } from '../parts/words.js'
import {
  clearEnded,
  decide,
  gatewayAhead,
  isOpen,
  proposals,
  unreadProposals,
  type Decision,
  type Proposal,
  type ShownProposal
} from '../state/approvals.js'
import { now } from '../state/clock.js'
import { AnswerForm } from './answer-form.js'
import { NotAllowed } from './not-allowed.js'

/** The calls that wait for an operator, as they would run, and what became of those that waited. */
export function Approvals ({ client, isAllowed }: { client: Client | undefined, isAllowed: boolean }) {
  if (!isAllowed) return <NotAllowed what='answer calls that wait for an operator' />
  const time = now.value + gatewayAhead.value
  const all = proposals.value
  const open = all.filter(shown => isOpen(shown, time)).length
  return (
    <section class='stack' aria-labelledby='approvals'>
      <div class='row spread'>
        <h1 id='approvals'>Approvals</h1>
        {all.length > open && <button type='button' onClick={() => clearEnded(time)}>Remove what has ended</button>}
      </div>
      {unreadProposals.value !== '' && (
        <p class='note bad' role='status'>
          The calls that wait could not be read: <ServerText text={unreadProposals.value} />
        </p>
      )}
      {open === 0 && (
        <p class='card quiet nothing'>
          No call waits for an operator. One does where a rule with <code>ask</code> and <code>by: operator</code>{' '}
          says so.
        </p>
      )}
      <ul class='stack' aria-label='Calls'>
        {all.map(shown => (
          <li key={`${shown.proposal.id} ${shown.proposal.at}`}>
            <Waiting shown={shown} client={client} now={time} />
          </li>
        ))}
      </ul>
    </section>
  )
}

function Waiting ({ shown, client, now }: { shown: ShownProposal, client: Client | undefined, now: number }) {
  const { proposal, ended } = shown
  const { name, caller, view, message, rule, at, expires, fixed, form, arguments: given } = proposal
  const isWaiting = isOpen(shown, now)
  return (
    <article class={isWaiting ? 'card stack proposal' : 'card stack proposal ended'} aria-label={`Call of ${name}`}>
      <div class='row spread'>
        <h2>
          <ServerText text={name} /> <span class='quiet'>for</span> <ServerText text={caller} />
        </h2>
        {isWaiting && <span class='badge warn'>waits for {span(expires - now)} more</span>}
      </div>
      {form !== undefined && (
        <p class='question-message'>It asks: <ServerText text={form.message} /> <HiddenBadge texts={[form.message]} /></p>
      )}
      {message !== undefined && <p class='question-message'><ServerText text={message} /></p>}
      <p class='small quiet'>
        Rule <ServerText text={rule} />
        {view !== undefined && <>, view <ServerText text={view} /></>}, asked {ago(now - at)}.
        {form === undefined ? 'It would run with these arguments, and no others:' : 'It runs with these arguments:'}{' '}<HiddenBadge texts={[given]} />
      </p>
      {/* Whole, however long: what is approved has to be seen. The gateway bounds it. */}
      <ServerText block text={given} />
      {fixed.length > 0 && (
        <p class='small quiet'>
          An operator fixed the value of <ServerText text={fixed.join(', ')} />; it is not shown.
        </p>
      )}
      {isWaiting
        ? (
          <Answers proposal={proposal} client={client} />
          )
        : (
          <p class='note'>{ended ?? 'Its time is over, so it was not run.'}</p>
          )}
    </article>
  )
}

function Answers ({ proposal, client }: { proposal: Proposal, client: Client | undefined }) {
  const busy = useSignal(false)
  const problem = useSignal('')
  const { form } = proposal
  const answer = async (decision: Decision, content?: JsonObject): Promise<void> => {
    if (client === undefined || busy.value) return
    busy.value = true
    problem.value = ''
    try {
      announce(await decide(client, proposal, decision, content))
    } catch (error) {
      problem.value = error instanceof Error ? error.message : String(error)
    } finally {
      busy.value = false
    }
  }
  const send = (content: JsonObject): void => { void answer('approve', content) }
  return (
    <div class='stack'>
      {form !== undefined && <AnswerForm schema={form.schema} name={proposal.name} send={send} />}
      <div class='row'>
        {form === undefined && (
          <button
            type='button'
            class='primary'
            disabled={client === undefined || busy.value}
            onClick={() => {
              void answer('approve')
            }}
          >
            Approve<span class='visually-hidden'> the call of {proposal.name}</span>
          </button>
        )}
        <button
          type='button'
          class='danger'
          disabled={client === undefined || busy.value}
          onClick={() => {
            void answer('decline')
          }}
        >
          Decline<span class='visually-hidden'> the call of {proposal.name}</span>
        </button>
        <span role='status' class='error small'>
          {problem.value === '' ? null : <ServerText text={problem.value} />}
        </span>
      </div>
    </div>
  )
}
