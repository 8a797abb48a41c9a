import type { ComponentChild } from 'preact'
import { useMemo } from 'preact/hooks'
import { isObject, type Json, type JsonObject } from '../client/contract.js'
import { textOf } from '../forms/model/schema.js'
import { CopyButton, SaveButton } from '../parts/buttons.js'
import { ServerText } from '../parts/server-text.js'
import { ContentBlock, ResourceContent, type OpenResource } from './content-block.js'
import { FitBadge } from './fit-badge.js'
import { repeatedTexts } from './json-content.js'
import { JsonTree } from './json-tree.js'

/** So many blocks, messages or contents are drawn; the others are in the JSON below. */
const MAX_BLOCKS = 50

interface ResultProps {
  value: JsonObject
  /** Of the tool that was called. */
  outputSchema?: Json | undefined
  /** Where it can be read, a linked resource gets a button. */
  onOpen?: OpenResource | undefined
}

/** Shows the result of a call: of a tool, a prompt or a resource. */
export function Result ({ value, outputSchema, onOpen }: ResultProps) {
  const failed = value.isError === true
  const repeated = useMemo(() => repeatedTexts(value), [value])
  return (
    <div class='result stack'>
      {failed ? <p class='note bad'>The tool says that it failed.</p> : null}
      {blocksOf(value, repeated, onOpen)}
      {value.structuredContent === undefined
        ? null
        : (
          <section>
            <h3>Structured content</h3>
            <JsonTree value={value.structuredContent} open />
          </section>
          )}
      {outputSchema === undefined || failed ? null : <FitBadge result={value} outputSchema={outputSchema} />}
      <details class='whole'>
        <summary class='quiet small'>Whole result as JSON</summary>
        <JsonTree value={value} open />
        <div class='row'>
          <CopyButton text={() => JSON.stringify(value, null, 2)} label='Copy JSON' />
          <SaveButton content={() => JSON.stringify(value, null, 2)} name='result.json' label='Save JSON' />
        </div>
      </details>
    </div>
  )
}

function blocksOf (
  { content, contents, messages }: JsonObject,
  repeated: ReadonlySet<number>,
  onOpen: OpenResource | undefined
) {
  if (Array.isArray(content)) {
    return drawLimited(content, 'The tool returned no content.', (block, index) =>
      repeated.has(index)
        ? (
          <p class='quiet small'>The text says the same as the structured content.</p>
          )
        : (
          <ContentBlock block={block} onOpen={onOpen} />
          )
    )
  }
  if (Array.isArray(contents)) {
    return drawLimited(contents, 'The resource has no contents.', part =>
      isObject(part) ? <ResourceContent resource={part} /> : <JsonTree value={part} open />
    )
  }
  if (Array.isArray(messages)) {
    return drawLimited(messages, 'The prompt has no messages.', message => (
      <Message message={message} onOpen={onOpen} />
    ))
  }
  return null
}

function drawLimited (list: Json[], none: string, draw: (part: Json, index: number) => ComponentChild) {
  if (list.length === 0) return <p class='quiet'>{none}</p>
  return (
    <>
      {list.slice(0, MAX_BLOCKS).map((part, index) => <div key={index} class='block'>{draw(part, index)}</div>)}
      {list.length > MAX_BLOCKS ? <p class='quiet'>{list.length - MAX_BLOCKS} more are in the JSON below.</p> : null}
    </>
  )
}

function Message ({ message, onOpen }: { message: Json, onOpen: OpenResource | undefined }) {
  if (!isObject(message)) return <JsonTree value={message} open />
  return (
    <>
      <h3><ServerText text={textOf(message.role) ?? 'message'} /></h3>
      <ContentBlock block={message.content ?? null} onOpen={onOpen} />
    </>
  )
}
