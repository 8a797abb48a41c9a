import { useEffect, useState } from 'preact/hooks'
import { announce } from './announce.js'

const SHOWN_MS = 2_000

interface CopyProps {
  /** The text to copy, exactly; a function where making it costs something. */
  text: string | (() => string)
  /** `Copy` unless told. */
  label?: string
}

/** Copies a text and says that it did, or why it could not. */
export function CopyButton ({ text, label = 'Copy' }: CopyProps) {
  const [said, setSaid] = useState('')
  useEffect(() => {
    if (said === '') return
    const timer = setTimeout(() => setSaid(''), SHOWN_MS)
    return () => clearTimeout(timer)
  }, [said])
  const copy = async () => {
    const words = await copyText(typeof text === 'string' ? text : text()) ? 'Copied' : 'The browser refused to copy'
    setSaid(words)
    announce(words)
  }
  return <button type='button' class='plain' onClick={() => { void copy() }}>{said === '' ? label : said}</button>
}

async function copyText (text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text)
    return true
  } catch {
    return copyBySelection(text)
  }
}

/** Pages without TLS beyond loopback have no `navigator.clipboard`. */
function copyBySelection (text: string): boolean {
  const before = document.activeElement
  const area = document.createElement('textarea')
  area.value = text
  // Inside an open dialog all else cannot be focused.
  const place = before?.closest('dialog') ?? document.body
  place.append(area)
  area.select()
  const done = document.execCommand('copy')
  area.remove()
  if (before instanceof HTMLElement) before.focus()
  return done
}

interface SaveProps {
  /** Makes the content of the file, when it is asked for. */
  content: () => string | Uint8Array<ArrayBuffer>
  /** Chosen by the page, never by a server. */
  name: string
  label: string
  disabled?: boolean
}

/** Saves a text or bytes as a file, exactly. */
export function SaveButton ({ content, name, label, disabled = false }: SaveProps) {
  const save = (): void => {
    // A type that no browser opens by itself.
    const url = URL.createObjectURL(new Blob([content()], { type: 'application/octet-stream' }))
    const link = document.createElement('a')
    link.href = url
    link.download = name
    link.click()
    // The browser has to begin reading before the URL goes.
    setTimeout(() => URL.revokeObjectURL(url), 60_000)
  }
  return <button type='button' class='plain' disabled={disabled} onClick={save}>{label}</button>
}
