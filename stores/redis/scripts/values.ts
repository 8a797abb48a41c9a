import { script } from './script.js'

/**
 * KEYS of all: values by key, keys in order, expiries. All nodes go by the clock of Redis. Whether a value has expired.
 */
const EXPIRY = `
  local time = redis.call('TIME')
  local now = time[1] * 1000 + math.floor(time[2] / 1000)
  local function isDead (key)
    local expires = redis.call('ZSCORE', KEYS[3], key)
    return expires and tonumber(expires) <= now
  end
  local function remove (...)
    redis.call('ZREM', KEYS[2], ...)
    redis.call('ZREM', KEYS[3], ...)
    return redis.call('HDEL', KEYS[1], ...)
  end`

/**
 * Each write removes some expired values: no write takes long, however many there are. It does so last, because a full
 * Redis refuses the first write of a script only, and only if it needs memory.
 */
const PURGE = `
  local dead = redis.call('ZRANGEBYSCORE', KEYS[3], '-inf', now, 'LIMIT', 0, 1000)
  if #dead > 0 then remove(unpack(dead)) end`

/** A space whose values all expire, expires with the last of them; beyond 2^53 there is no exact time. */
const EXPIRE_SPACE = `
  local latest = redis.call('ZCARD', KEYS[3]) == redis.call('HLEN', KEYS[1]) and redis.call('ZRANGE', KEYS[3], -1, -1, 'WITHSCORES')[2]
  for _, key in ipairs(KEYS) do
    if latest and tonumber(latest) < 9007199254740992 then redis.call('PEXPIREAT', key, string.format('%.0f', math.ceil(latest))) else redis.call('PERSIST', key) end
  end`

/** ARGV: key. The value, or nil. */
export const GET = script(`${EXPIRY}
  return not isDead(ARGV[1]) and redis.call('HGET', KEYS[1], ARGV[1])`)

/**
 * ARGV: key, value, expiry or '', most entries or '', '1' to keep a present value. 1 if it was written, 0 if not, -1 if
 * there are too many.
 */
export const PUT = script(`${EXPIRY}
  local present = redis.call('HEXISTS', KEYS[1], ARGV[1]) == 1 and not isDead(ARGV[1])
  if present and ARGV[5] == '1' then return 0 end
  local living = redis.call('HLEN', KEYS[1]) - redis.call('ZCOUNT', KEYS[3], '-inf', now)
  if not present and ARGV[4] ~= '' and living >= tonumber(ARGV[4]) then return -1 end
  redis.call('HSET', KEYS[1], ARGV[1], ARGV[2])
  redis.call('ZADD', KEYS[2], 0, ARGV[1])
  if ARGV[3] == '' then redis.call('ZREM', KEYS[3], ARGV[1]) else redis.call('ZADD', KEYS[3], ARGV[3], ARGV[1]) end
  ${PURGE}
  ${EXPIRE_SPACE}
  return 1`)

/** ARGV: key, value before, value after, expiry or ''. 1 if the value before was there, and was replaced. */
export const SWAP = script(`${EXPIRY}
  if isDead(ARGV[1]) or redis.call('HGET', KEYS[1], ARGV[1]) ~= ARGV[2] then return 0 end
  redis.call('HSET', KEYS[1], ARGV[1], ARGV[3])
  if ARGV[4] == '' then redis.call('ZREM', KEYS[3], ARGV[1]) else redis.call('ZADD', KEYS[3], ARGV[4], ARGV[1]) end
  ${PURGE}
  ${EXPIRE_SPACE}
  return 1`)

/** ARGV: key. 1 if there was one. */
export const DELETE = script(`${EXPIRY}
  local wasDead = isDead(ARGV[1])
  ${PURGE}
  local removed = remove(ARGV[1])
  return wasDead and 0 or removed`)

/** ARGV: key. The value, which is deleted, or nil. */
export const TAKE = script(`${EXPIRY}
  ${PURGE}
  local value = not isDead(ARGV[1]) and redis.call('HGET', KEYS[1], ARGV[1])
  remove(ARGV[1])
  return value`)

/**
 * ARGV: start, stop, 'REV' or '', how many keys to look at, '1' for values, how many characters of values are enough.
 * The last key that was looked at, or '' if it was the last of all; then keys, or keys and values in turn.
 */
export const LIST = script(`${EXPIRY}
  local range = { KEYS[2], ARGV[1], ARGV[2], 'BYLEX' }
  if ARGV[3] == 'REV' then range[#range + 1] = 'REV' end
  for _, part in ipairs({ 'LIMIT', 0, ARGV[4] }) do range[#range + 1] = part end
  local keys = redis.call('ZRANGE', unpack(range))
  local mayExpire = redis.call('EXISTS', KEYS[3]) == 1
  local found = { #keys == tonumber(ARGV[4]) and keys[#keys] or '' }
  local size = 0
  for index, key in ipairs(keys) do
    if not mayExpire or not isDead(key) then
      found[#found + 1] = key
      if ARGV[5] == '1' then
        local value = redis.call('HGET', KEYS[1], key)
        found[#found + 1] = value
        size = size + #value
        if size > tonumber(ARGV[6]) and index < #keys then
          found[1] = key
          break
        end
      end
    end
  end
  return found`)

/**
 * ARGV: key, what to add. The sum as text, because a client may round a large integer; or 'no' and the value that
 * cannot be added to.
 */
export const INCREMENT = script(`${EXPIRY}
  local value = not isDead(ARGV[1]) and redis.call('HGET', KEYS[1], ARGV[1]) or '0'
  local sum = (tonumber(value) or 0.5) + tonumber(ARGV[2])
  if sum ~= math.floor(sum) or math.abs(sum) > 9007199254740991 then return { 'no', value } end
  local text = string.format('%.0f', sum)
  redis.call('HSET', KEYS[1], ARGV[1], text)
  redis.call('ZADD', KEYS[2], 0, ARGV[1])
  if isDead(ARGV[1]) then redis.call('ZREM', KEYS[3], ARGV[1]) end
  ${PURGE}
  ${EXPIRE_SPACE}
  return { 'ok', text }`)
