import { script } from './script.js'

/*
 * KEYS of all: the sessions of a principal (a sorted set of their ids by expiry), which are counted in another slot
 * than they are stored. The set expires with the last of them.
 */
const NOW = `
  local time = redis.call('TIME')
  local now = string.format('%.0f', time[1] * 1000 + math.floor(time[2] / 1000))`

const EXPIRE = `
  local latest = redis.call('ZRANGE', KEYS[1], -1, -1, 'WITHSCORES')
  if latest[2] then redis.call('PEXPIREAT', KEYS[1], string.format('%.0f', latest[2])) end`

/**
 * ARGV: session, its expiry, the most sessions. 0 if there are as many already. Expired ones are removed last: a full
 * Redis refuses the first write of a script only, and removing needs no memory.
 */
export const ADD_TO_PRINCIPAL = script(`${NOW}
  if not redis.call('ZSCORE', KEYS[1], ARGV[1]) and redis.call('ZCOUNT', KEYS[1], now, '+inf') >= tonumber(ARGV[3]) then return 0 end
  redis.call('ZADD', KEYS[1], ARGV[2], ARGV[1])
  redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', '(' .. now)
  ${EXPIRE}
  return 1`)

/** ARGV: the expiry of sessions, and those. */
export const TOUCH_OF_PRINCIPAL = script(`
  for index = 2, #ARGV do redis.call('ZADD', KEYS[1], ARGV[1], ARGV[index]) end
  ${EXPIRE}`)
