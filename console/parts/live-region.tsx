import { announcement } from './announce.js'

/** Speaks what `announce` is given, when the reader pauses. The page has one. */
export function LiveRegion () {
  const { id, text } = announcement.value
  return <div class='visually-hidden' role='status' aria-live='polite'><span key={id}>{text}</span></div>
}
