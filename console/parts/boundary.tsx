import { Component, type ComponentChildren } from 'preact'
import { ServerText } from './server-text.js'

interface BoundaryProps {
  children: ComponentChildren
  /** Another one, and what is inside is tried again. */
  place?: unknown
}

interface Drawn { place?: unknown, broken?: { message: string } | undefined }

/** Shows a note in place of what throws while it is drawn; the rest of the page stays. */
export class Boundary extends Component<BoundaryProps, Drawn> {
  static override getDerivedStateFromError (error: unknown): Drawn {
    return { broken: { message: error instanceof Error ? error.message : String(error) } }
  }

  static override getDerivedStateFromProps ({ place }: BoundaryProps, drawn: Drawn): Drawn | null {
    return place === drawn.place ? null : { place, broken: undefined }
  }

  override render ({ children }: BoundaryProps, { broken }: Drawn) {
    if (broken === undefined) return <>{children}</>
    return (
      <div class='note bad row spread' role='alert'>
        <span>This part of the page could not be drawn: <ServerText text={broken.message} /></span>
        <button type='button' onClick={() => this.setState({ broken: undefined })}>Try again</button>
      </div>
    )
  }
}
