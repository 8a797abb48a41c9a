/** What a challenge says of this server. */
export interface Challenger {
  /** The name of the server; left out where there is metadata. */
  realm: string
  /** The URL of the metadata of this protected resource. */
  metadata?: string | undefined
}

/** What was wrong with the credential, and the scopes to ask for. */
export interface ChallengeDetails { error?: string | undefined, description?: string | undefined, scopes: readonly string[] }

/** The value of `WWW-Authenticate`: one Bearer challenge (RFC 6750, RFC 9728). */
export function challenge ({ realm, metadata }: Challenger, { error, description, scopes }: ChallengeDetails): string {
  const parts = { realm: metadata === undefined ? realm : undefined, error, error_description: description, scope: scopes.join(' '), resource_metadata: metadata }
  const params = Object.entries(parts).filter((part): part is [string, string] => part[1] !== undefined && part[1] !== '')
  return `Bearer ${params.map(([name, value]) => `${name}="${quotable(value)}"`).join(', ')}`
}

/** Text that fits a quoted string of a header: ASCII without quotes and backslashes. */
const quotable = (text: string): string => text.replace(/[^\x20-\x7e]|["\\]/g, '')
