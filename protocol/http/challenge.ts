/** How a client learns, from a refusal over HTTP, what it takes to be let in. */
export interface Challenger {
  /** Whose clients are talked to; shown where there is no metadata. */
  realm: string
  /** Where the metadata of this protected resource are. */
  metadata?: string | undefined
}

export interface Complaint { error?: string, description?: string, scopes: readonly string[] }

/** The value of `WWW-Authenticate`: one challenge with all there is to say. */
export function challenge ({ realm, metadata }: Challenger, { error, description, scopes }: Complaint): string {
  const parts = { realm: metadata === undefined ? realm : undefined, error, error_description: description, scope: scopes.join(' '), resource_metadata: metadata }
  const params = Object.entries(parts).filter((part): part is [string, string] => part[1] !== undefined && part[1] !== '')
  return `Bearer ${params.map(([name, value]) => `${name}="${quotable(value)}"`).join(', ')}`
}

/** Headers carry ASCII, and a quoted text neither quotes nor backslashes. */
const quotable = (text: string): string => text.replace(/[^\x20-\x7e]|["\\]/g, '')
