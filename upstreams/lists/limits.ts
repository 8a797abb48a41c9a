/** How much of an upstream's lists is taken. */
export interface ListLimits {
  /** The most pages of one list. */
  readonly maxUpstreamPages: number
  /** The most entries of one list. */
  readonly maxUpstreamEntries: number
  /** The most resource templates: a URI that is read is compared with each. */
  readonly maxUpstreamTemplates: number
  /** The most characters of JSON of one list. */
  readonly maxUpstreamList: number
  /** The most characters of JSON of one entry. */
  readonly maxUpstreamEntry: number
  /** The most members and elements of one entry. */
  readonly maxUpstreamEntryValues: number
  /** The most characters of the instructions of one upstream. */
  readonly maxUpstreamInstructions: number
  /** The most links from results that are remembered for one caller, and the most callers. */
  readonly maxUpstreamLinks: number
  /** How long changes of a list are gathered before it is read again, in milliseconds. */
  readonly upstreamListDelay: number
  /** How long lists wait for an upstream of which nothing is known, in milliseconds. */
  readonly upstreamListWait: number
  /** How long one page may take, in milliseconds. */
  readonly callTimeout: number
}
