import type { Options } from '../options.js'

/** A sentence for each option that has no effect because of another one. */
export function overriddenOptions ({ redis, data, ephemeral }: Pick<Options, 'redis' | 'data' | 'ephemeral'>): string[] {
  if (redis === undefined) return []
  return [
    ...(data === undefined ? [] : [`option data has no effect with option redis: what is in ${data} is not used, and everything is stored in Redis`]),
    ...(ephemeral ? ['option ephemeral has no effect with option redis: everything is stored in Redis'] : [])
  ]
}
