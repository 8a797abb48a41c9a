import { useSignal } from '@preact/signals'
import { useMemo } from 'preact/hooks'
import { isObject, type Json, type JsonObject } from '../client/contract.js'
import { numberOf, textOf } from '../forms/model/schema.js'
import { CopyButton } from '../parts/copy-button.js'
import { LinkText } from '../parts/link-text.js'
import { ServerText } from '../parts/server-text.js'
import { sizeWords } from './excerpt.js'
import { jsonContent, jsonText } from './json-content.js'
import { JsonTree } from './json-tree.js'
import { LongText } from './long-text.js'
import { MediaView } from './media-view.js'

/** Reads a resource that a result names. */
export type OpenResource = (uri: string) => void

interface BlockProps { block: Json, onOpen?: OpenResource | undefined }

/** One block of content. What is not known is shown as JSON. */
export function ContentBlock ({ block, onOpen }: BlockProps) {
  if (isObject(block)) {
    const { type, text, data, mimeType, resource, uri } = block
    if (type === 'text' && typeof text === 'string') return <TextContent text={text} />
    if ((type === 'image' || type === 'audio') && typeof data === 'string') return <MediaView base64={data} type={textOf(mimeType) ?? ''} />
    if (type === 'resource' && isObject(resource)) return <ResourceContent resource={resource} />
    if (type === 'resource_link' && typeof uri === 'string') return <ResourceLink block={block} uri={uri} onOpen={onOpen} />
  }
  return <JsonTree value={block} open />
}

/** A resource with its contents, as embedded in results and as read. */
export function ResourceContent ({ resource }: { resource: JsonObject }) {
  const { uri, mimeType, text, blob } = resource
  if (typeof text !== 'string' && typeof blob !== 'string') return <JsonTree value={resource} open />
  return (
    <div class='resource stack'>
      <p class='small'><strong><ServerText text={textOf(uri) ?? 'Resource'} /></strong> <span class='quiet'><ServerText text={textOf(mimeType) ?? ''} /></span></p>
      {typeof text === 'string' ? <ResourceText text={text} type={textOf(mimeType) ?? ''} /> : <MediaView base64={textOf(blob) ?? ''} type={textOf(mimeType) ?? ''} />}
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
        <button type='button' class='plain' onClick={() => { asText.value = !asText.value }}>{asText.value ? 'Show as a tree' : 'Show as text'}</button>
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
  const facts = [textOf(block.mimeType), size === undefined ? undefined : sizeWords(size)].filter(fact => fact !== undefined)
  return (
    <div class='resource'>
      <p><strong><ServerText text={textOf(block.title) ?? textOf(block.name) ?? uri} /></strong> <span class='quiet small'><ServerText text={facts.join(', ')} /></span></p>
      {textOf(block.description) === undefined ? null : <p class='quiet small'><ServerText text={textOf(block.description) ?? ''} /></p>}
      <p class='row'><LinkText url={uri} />{onOpen === undefined ? null : <button type='button' onClick={() => onOpen(uri)}>Read</button>}</p>
    </div>
  )
}
