import { DEFAULT_SCOPES, grants, type Identity } from '../../../protocol/wire/identity.js'

/** Instructions, the upstream they are of, and what a caller must have been granted to see them: `mcp` when absent. */
export interface Section {
  readonly text: string
  readonly upstream: string
  readonly scopes: readonly string[] | undefined
}

/** The instructions of the operator, followed by sections that not every caller may see. */
export class Instructions {
  readonly #own: string | undefined
  #sections: readonly Section[] = []

  constructor (own: string | undefined) {
    this.#own = own
  }

  append (sections: readonly Section[]): void {
    this.#sections = sections
  }

  /** True when the caller sees all of them. */
  areAllFor (identity: Identity): boolean {
    return this.#sections.every(section => maySee(identity, section))
  }

  /** True when callers see different ones. */
  get differ (): boolean {
    return this.#sections.length > 0
  }

  /** `isWanted` is asked of each upstream; all are wanted without it. */
  textFor (identity: Identity, isWanted: (upstream: string) => boolean = () => true): string {
    const sections = this.#sections
      .filter(section => isWanted(section.upstream) && maySee(identity, section))
      .map(({ text }) => text)
    return [this.#own ?? '', ...sections].filter(text => text !== '').join('\n\n')
  }
}

/** True for a caller that may see what has these scopes. */
export const maySee = (identity: Identity, { scopes }: Pick<Section, 'scopes'>): boolean =>
  grants(identity, scopes ?? DEFAULT_SCOPES)
