import type { JSX } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import { ServerText } from '../parts/server-text.js'
import { itemsOf, lists, type Item } from '../state/lists.js'
import { writeRoute, type Kind } from '../state/route.js'
import { About } from './about.js'
import { CallsOf } from './call/calls-of.js'
import { focusIfLost } from './focus.js'
import { PLURALS } from './item-list.js'
import { PromptCall } from './use/prompt-call.js'
import { ResourceCall } from './use/resource-call.js'
import { TemplateCall } from './use/template-call.js'
import { ToolCall } from './use/tool-call.js'

const FORMS: Record<Kind, (props: { item: Item }) => JSX.Element> = {
  tool: ToolCall,
  resource: ResourceCall,
  template: TemplateCall,
  prompt: PromptCall
}

/** One thing: what the server says of it, how to use it, and its calls. */
export function Opened ({ kind, name }: { kind: Kind, name: string }) {
  const { items, state } = lists[kind].value
  const item =
    items.find(({ key }) => key === name) ?? (kind === 'resource' && state === 'ready' ? unlisted(name) : undefined)
  const box = useRef<HTMLElement>(null)
  useEffect(() => focusIfLost(() => box.current), [])
  const Form = FORMS[kind]
  return (
    <>
      <a class='back' href={writeRoute({ view: 'try', kind })}>
        ‹ All {PLURALS[kind].toLowerCase()}
      </a>
      <article ref={box} class='stack' tabIndex={-1}>
        {item === undefined
          ? (
            <>
              <p class='card'>
                {state === 'loading' ? 'Looking for' : 'The server does not offer'}{' '}
                <code>
                  <ServerText text={name} />
                </code>
                {state === 'loading' ? '…' : ' (any more).'}
              </p>
              <CallsOf kind={kind} name={name} />
            </>
            )
          : (
            <>
              <About item={item} kind={kind} />
              <Form item={item} />
            </>
            )}
      </article>
    </>
  )
}

/** A resource that results name may be read without being listed. */
const unlisted = (uri: string): Item | undefined =>
  itemsOf([{ uri, description: 'This resource is not in the list of the server.' }], 'resource')[0]
