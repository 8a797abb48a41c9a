import { useEffect, useMemo, useState } from 'preact/hooks'
import { ServerText } from '../parts/server-text.js'
import { sizeWords } from './excerpt.js'
import { bareType, decode, decodedSize, mediaOf } from './media.js'
import { SaveButton } from '../parts/buttons.js'

/** Bytes that a server sent: seen or heard where that is safe, and saved in any case. */
export function MediaView ({ base64, type }: { base64: string, type: string }) {
  const size = decodedSize(base64)
  const media = mediaOf(type, size)
  const words = `${type === '' ? 'bytes without a type' : type}, ${sizeWords(size)}`
  return (
    <figure class='stack'>
      {media === 'file' ? null : <Shown {...{ base64, type, media, words }} />}
      <figcaption class='row'>
        <span class='quiet small'><ServerText text={words} /></span>
        <SaveButton content={() => decode(base64) ?? base64} name='content.bin' label='Save' />
      </figcaption>
    </figure>
  )
}

function Shown ({
  base64,
  type,
  media,
  words
}: {
  base64: string
  type: string
  media: 'image' | 'audio'
  words: string
}) {
  const url = useBlob(base64, type)
  const [broken, setBroken] = useState(false)
  if (url === undefined || broken) return <p class='note warn'>This cannot be shown: it is not what its type says.</p>
  const breaks = () => setBroken(true)
  if (media === 'audio') {
    return <audio controls preload='metadata' src={url} aria-label={`Sound: ${words}`} onError={breaks} />
  }
  return <img src={url} alt={`Image: ${words}`} decoding='async' onError={breaks} />
}

/** A URL of the bytes that lives as long as the component; undefined when they cannot be decoded. */
function useBlob (base64: string, type: string): string | undefined {
  const url = useMemo(() => {
    const bytes = decode(base64)
    return bytes === undefined ? undefined : URL.createObjectURL(new Blob([bytes], { type: bareType(type) }))
  }, [base64, type])
  useEffect(() => () => { if (url !== undefined) URL.revokeObjectURL(url) }, [url])
  return url
}
