import { useSignal } from '@preact/signals'
import { useMemo, useState } from 'preact/hooks'
import { isObject, type Json, type JsonObject } from '../client/contract.js'
import { numberOf, textOf } from '../forms/model/schema.js'
import { CopyButton, SaveButton } from '../parts/buttons.js'
import { LinkText, ServerText } from '../parts/server-text.js'
import { SHOWN_BYTES, beginning, blocksOf, byteLength, sizeWords } from './excerpt.js'
import { jsonContent, jsonText } from './json-content.js'
import { JsonTree } from './json-tree.js'
import { MediaView } from './media-view.js'

/** Reads a resource that a result names. */
export type OpenResource = (uri: string) => void

interface BlockProps { block: Json, onOpen?: OpenResource | undefined }

/** One block of content. What is not known is shown as JSON. */
export function ContentBlock ({ block, onOpen }: BlockProps) {
  if (isObject(block)) {
    const { type, text, data, mimeType, resource, uri } = block
    if (type === 'text' && typeof text === 'string') return <TextContent text={text} />
    if ((type === 'image' || type === 'audio') && typeof data === 'string') {
      return <MediaView base64={data} type={textOf(mimeType) ?? ''} />
    }
    if (type === 'resource' && isObject(resource)) return <ResourceContent resource={resource} />
    if (type === 'resource_link' && typeof uri === 'string') {
      return <ResourceLink block={block} uri={uri} onOpen={onOpen} />
    }
  }
  return <JsonTree value={block} open />
}

/** A resource with its contents, as embedded in results and as read. */
export function ResourceContent ({ resource }: { resource: JsonObject }) {
  const { uri, mimeType, text, blob } = resource
  if (typeof text !== 'string' && typeof blob !== 'string') return <JsonTree value={resource} open />
  return (
    <div class='resource stack'>
      <p class='small'>
        <strong>
          <ServerText text={textOf(uri) ?? 'Resource'} />
        </strong>{' '}
        <span class='quiet'>
          <ServerText text={textOf(mimeType) ?? ''} />
        </span>
      </p>
      {typeof text === 'string'
        ? (
          <ResourceText text={text} type={textOf(mimeType) ?? ''} />
          )
        : (
          <MediaView base64={textOf(blob) ?? ''} type={textOf(mimeType) ?? ''} />
          )}
    </div>
  )
}

/** A text; one that is JSON as a tree, and on demand as it is. */
function TextContent ({ text }: { text: string }) {
  const json = useMemo(() => jsonText(text), [text])
  const asText = useSignal(false)
  if (json === undefined) return <LongText text={text} />
  return (
    <div>
      {asText.value ? <LongText text={text} /> : <JsonTree value={json} open />}
      <div class='row'>
        <button
          type='button'
          class='plain'
          onClick={() => {
            asText.value = !asText.value
          }}
        >
          {asText.value ? 'Show as a tree' : 'Show as text'}
        </button>
        {!asText.value && <CopyButton text={text} label='Copy text' />}
      </div>
    </div>
  )
}

/** JSON as a tree, other texts as they are. */
function ResourceText ({ text, type }: { text: string, type: string }) {
  const json = useMemo(() => jsonContent(text, type), [text, type])
  if (json === undefined) return <LongText text={text} />
  return <div><JsonTree value={json} open /><div class='row'><CopyButton text={text} label='Copy text' /></div></div>
}

function ResourceLink ({ block, uri, onOpen }: { block: JsonObject, uri: string, onOpen: OpenResource | undefined }) {
  const size = numberOf(block.size)
  const facts = [textOf(block.mimeType), size === undefined ? undefined : sizeWords(size)].filter(
    fact => fact !== undefined
  )
  return (
    <div class='resource'>
      <p>
        <strong>
          <ServerText text={textOf(block.title) ?? textOf(block.name) ?? uri} />
        </strong>{' '}
        <span class='quiet small'>
          <ServerText text={facts.join(', ')} />
        </span>
      </p>
      {textOf(block.description) === undefined
        ? null
        : (
          <p class='quiet small'>
            <ServerText text={textOf(block.description) ?? ''} />
          </p>
          )}
      <p class='row'>
        <LinkText url={uri} />
        {onOpen === undefined
          ? null
          : (
            <button type='button' onClick={() => onOpen(uri)}>
              Read
            </button>
            )}
      </p>
    </div>
  )
}

/** A server's text of any length: the first 100 KiB, and more when asked. */
export function LongText ({ text }: { text: string }) {
  const [times, setTimes] = useState(1)
  const shown = useMemo(() => beginning(text, times), [text, times])
  const blocks = useMemo(() => blocksOf(shown), [shown])
  const size = useMemo(() => text.length * 3 < SHOWN_BYTES ? 0 : byteLength(text), [text])
  return (
    <div class='long-text'>
      <pre class='server-text' dir='auto' tabIndex={0}>
        {blocks.map((block, index) => (
          <span key={index} class={blocks.length === 1 ? '' : 'block-of-text'}>
            <ServerText text={block} />
          </span>
        ))}
      </pre>
      <div class='row'>
        {shown.length < text.length
          ? (
            <span class='quiet small'>
              {sizeWords(times * SHOWN_BYTES)} of {sizeWords(size)} shown
            </span>
            )
          : null}
        {shown.length < text.length
          ? (
            <button type='button' onClick={() => setTimes(times + 1)}>
              Show 100 KiB more
            </button>
            )
          : null}
        <CopyButton text={text} label='Copy text' />
        {size > 0 ? <SaveButton content={() => text} name='text.txt' label='Save text' /> : null}
      </div>
    </div>
  )
}
