import type { ComponentChildren } from 'preact'
import { useEffect, useId, useRef } from 'preact/hooks'

interface DialogProps {
  title: ComponentChildren
  /** Called by Escape and by whatever else closes the dialog without a choice: it must be the safe thing. */
  onClose: () => void
  children: ComponentChildren
}

/**
 * A modal dialog that is open while it is rendered. The element with `autofocus` gets the focus, so give it to the safe
 * button; afterwards the focus goes back.
 */
export function Dialog ({ title, onClose, children }: DialogProps) {
  const element = useRef<HTMLDialogElement>(null)
  const id = useId()
  useEffect(() => {
    const opener = document.activeElement
    const dialog = element.current
    dialog?.showModal()
    return () => {
      dialog?.close()
      if (opener instanceof HTMLElement && opener.isConnected) opener.focus()
    }
  }, [])
  return (
    <dialog ref={element} aria-labelledby={id} onCancel={event => { event.preventDefault(); onClose() }}>
      <h2 id={id}>{title}</h2>
      {children}
    </dialog>
  )
}
