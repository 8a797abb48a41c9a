/** What a Redis server says about itself that matters here. */
export interface ServerInfo {
  /** Why it cannot be used; undefined when it can. */
  unfit: string | undefined
  /** What an operator should change. */
  warnings: string[]
}

/** Reads the reply to `INFO`. */
export function readServerInfo (info: string): ServerInfo {
  const fields = new Map(info.split('\r\n').map(line => line.split(':', 2) as [string, string]))
  const version = fields.get('redis_version') ?? ''
  const policy = fields.get('maxmemory_policy')
  return {
    // Valkey names the version of Redis that it is compatible with, which is 7.2 or later.
    unfit: Number.parseInt(version, 10) < 7 ? `is version ${version}, which is too old: use Redis 7.0 or Valkey 7.2, or a later one` : undefined,
    warnings: [
      ...(policy === undefined || policy === 'noeviction' ? [] : [`Redis may drop sessions and notes when its memory is full, because its maxmemory-policy is ${policy}: set it to noeviction`]),
      ...(fields.get('role') === 'slave' ? ['Redis is a replica, which cannot be written to: option redis has to lead to the primary'] : []),
      ...(fields.get('cluster_enabled') === '1' ? ['Redis is in cluster mode: that works only while one of its nodes has all slots'] : [])
    ]
  }
}
