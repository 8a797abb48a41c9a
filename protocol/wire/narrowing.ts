/** The part of its view that a request asks for: it only takes away. */
export interface Narrowing {
  /** False for an item that the request is not to see. */
  keeps: (kind: 'tools' | 'resources' | 'prompts', item: Narrowed) => boolean
}

/** The members of an item that decide. */
export interface Narrowed {
  readonly name?: string
  readonly upstream?: string | undefined
  readonly accessName?: string | undefined
  readonly scopeNames?: readonly string[] | undefined
  readonly listed?: Record<string, unknown>
  /** True for a tool by which others are found and called: nothing but its name takes it away. */
  readonly ofSearch?: boolean | undefined
  /** True for the tool by which the rest of a long result is read, likewise. */
  readonly hasWholeResults?: boolean | undefined
}
