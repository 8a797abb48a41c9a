/** Limits of the contents of a message. */
export interface MessageLimits {
  maxDepth: number
  maxKeys: number
  maxValues: number
  maxId: number
  maxBatch: number
  /**
   * True when a response is read even if it has keys that reach prototypes, or numbers that do not fit; `forbidden` of
   * it says so.
   */
  allowsUnsafeKeys?: boolean
  /**
   * The option that bounds values and keys, where it is not `maxValues` and `maxKeys`; the depth is not an option then.
   */
  option?: 'maxUpstreamValues' | 'maxUpstreamListValues'
}

/** Limits of what one peer may ask for, and for how long; times are in milliseconds. */
export interface Limits extends Omit<MessageLimits, 'allowsUnsafeKeys' | 'option'> {
  maxInFlight: number
  /** How many bytes the calls of one peer, and those of all together, may hold while they are answered. */
  maxBytesInFlight: number
  maxAllBytesInFlight: number
  /** How many bytes may wait for all clients together that do not keep up. */
  maxQueued: number
  /** After the last sign of life of a call, and in any case. */
  callTimeout: number
  callTimeoutMax: number
  /** For calls to finish at shutdown. */
  grace: number
}

export const LIMITS: Limits = {
  maxDepth: 64,
  maxKeys: 10_000,
  maxValues: 100_000,
  maxId: 1_024,
  maxBatch: 100,
  maxInFlight: 1_024,
  maxBytesInFlight: 33_554_432,
  maxAllBytesInFlight: Infinity,
  maxQueued: 67_108_864,
  callTimeout: 60_000,
  callTimeoutMax: 600_000,
  grace: 10_000
}

/**
 * Limits of the contents of a message of an upstream. Its lists may be long, and one entry that is too deep for clients
 * must not cost the others.
 */
export const upstreamLimits = (
  maxValues: number,
  option: 'maxUpstreamValues' | 'maxUpstreamListValues' = 'maxUpstreamValues'
): MessageLimits => ({
  ...LIMITS,
  maxDepth: 4 * LIMITS.maxDepth,
  maxKeys: maxValues,
  maxValues,
  maxBatch: 1_000,
  allowsUnsafeKeys: true,
  option
})
