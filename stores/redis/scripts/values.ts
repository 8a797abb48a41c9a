import { script } from './script.js'

/** KEYS: values by key, keys in order, expiries. Expired values are removed first; all nodes go by the clock of Redis. */
const PURGE = `
  local time = redis.call('TIME')
  local now = time[1] * 1000 + math.floor(time[2] / 1000)
  while true do
    local dead = redis.call('ZRANGEBYSCORE', KEYS[3], '-inf', now, 'LIMIT', 0, 1000)
    if #dead == 0 then break end
    redis.call('HDEL', KEYS[1], unpack(dead))
    redis.call('ZREM', KEYS[2], unpack(dead))
    redis.call('ZREM', KEYS[3], unpack(dead))
  end`

/** ARGV: key. The value, or nil. */
export const GET = script(`${PURGE}
  return redis.call('HGET', KEYS[1], ARGV[1])`)

/** ARGV: key, value, expiry or '', most entries or '', '1' to keep a present value. 1 if it was written, 0 if not, -1 if there are too many. */
export const PUT = script(`${PURGE}
  local present = redis.call('HEXISTS', KEYS[1], ARGV[1]) == 1
  if present and ARGV[5] == '1' then return 0 end
  if not present and ARGV[4] ~= '' and redis.call('HLEN', KEYS[1]) >= tonumber(ARGV[4]) then return -1 end
  redis.call('HSET', KEYS[1], ARGV[1], ARGV[2])
  redis.call('ZADD', KEYS[2], 0, ARGV[1])
  if ARGV[3] == '' then redis.call('ZREM', KEYS[3], ARGV[1]) else redis.call('ZADD', KEYS[3], ARGV[3], ARGV[1]) end
  return 1`)

/** ARGV: key. 1 if there was one. */
export const DELETE = script(`${PURGE}
  redis.call('ZREM', KEYS[2], ARGV[1])
  redis.call('ZREM', KEYS[3], ARGV[1])
  return redis.call('HDEL', KEYS[1], ARGV[1])`)

/** ARGV: key. The value, which is deleted, or nil. */
export const TAKE = script(`${PURGE}
  local value = redis.call('HGET', KEYS[1], ARGV[1])
  redis.call('HDEL', KEYS[1], ARGV[1])
  redis.call('ZREM', KEYS[2], ARGV[1])
  redis.call('ZREM', KEYS[3], ARGV[1])
  return value`)

/** ARGV: start, stop, 'REV' or '', most entries, '1' for values. Keys, or keys and values in turn. */
export const LIST = script(`${PURGE}
  local range = { KEYS[2], ARGV[1], ARGV[2], 'BYLEX' }
  if ARGV[3] == 'REV' then range[#range + 1] = 'REV' end
  local keys = redis.call('ZRANGE', unpack(range, 1, #range))
  local most = tonumber(ARGV[4])
  local found = {}
  for index = 1, math.min(#keys, most) do
    found[#found + 1] = keys[index]
    if ARGV[5] == '1' then found[#found + 1] = redis.call('HGET', KEYS[1], keys[index]) end
  end
  return found`)

/** ARGV: key, what to add. The sum as text, because a client may round a large integer; or 'no' and the value that cannot be added to. */
export const INCREMENT = script(`${PURGE}
  local value = redis.call('HGET', KEYS[1], ARGV[1]) or '0'
  local sum = (tonumber(value) or 0.5) + tonumber(ARGV[2])
  if sum ~= math.floor(sum) or math.abs(sum) > 9007199254740991 then return { 'no', value } end
  local text = string.format('%.0f', sum)
  redis.call('HSET', KEYS[1], ARGV[1], text)
  redis.call('ZADD', KEYS[2], 0, ARGV[1])
  return { 'ok', text }`)
