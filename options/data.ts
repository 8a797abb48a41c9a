import { Type } from '@sinclair/typebox'
import { Count } from './numbers.js'

/** Options about what is stored, and where. */
export const data = {
  data: Type.Optional(
    Type.String({
      minLength: 1,
      description:
        'The folder for notes, the counter, sessions and event streams. The command has a default folder; an embedded gateway keeps them in memory'
    })
  ),
  ephemeral: Type.Boolean({ default: false, description: 'Keep everything in memory; overrides `data`' }),
  redis: Type.Optional(
    Type.String({
      pattern: '^rediss?://',
      'x-expected': 'must be a redis:// or rediss:// URL',
      description:
        'The URL of the Redis or Valkey server in which several gateways store all of this, and count calls, so that each can serve every client; overrides `data` and `ephemeral`'
    })
  ),
  redisPrefix: Type.String({
    default: 'patchbay:',
    minLength: 1,
    maxLength: 64,
    description: 'What the names of all keys and channels in Redis begin with'
  }),
  maxData: Count(1024 * 1024 * 1024, 'The largest size of the data file, in bytes'),
  secret: Type.Optional(
    Type.String({
      minLength: 16,
      description:
        'The key that encrypts cursors and request states; gateways that serve the same clients need the same one'
    })
  )
}
