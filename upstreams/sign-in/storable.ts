/** The name of the key file in the data folder. */
export const SIGN_IN_KEY = 'sign-in.key'

/** Where the key that seals tokens comes from. */
export interface SealingOptions {
  readonly data?: string | undefined
  readonly redis?: string | undefined
  readonly ephemeral: boolean
  readonly secret?: string | undefined
}

/** Says why tokens cannot be stored with these options, and what to do; undefined where they can. */
export function whyNotStored ({ data, redis, ephemeral, secret }: SealingOptions): string | undefined {
  if (redis !== undefined) {
    return secret === undefined
      ? 'tokens in Redis are sealed with the option secret, which is not set; set the same one at all gateways, as PATCHBAY_SECRET or in the config file'
      : undefined
  }
  return ephemeral || data === undefined
    ? 'a sign-in has to be stored, and with --ephemeral nothing is; leave it out, or choose a folder with --data'
    : undefined
}
