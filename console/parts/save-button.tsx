interface SaveProps {
  /** What is saved, made when it is asked for. */
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
