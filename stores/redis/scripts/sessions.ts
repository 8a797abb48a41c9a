import { script } from './script.js'

/*
 * KEYS of all: the session (a hash: `home`, `a:MEMBER` of the agreement as JSON, `u:URI` of the subscriptions), and its
 * streams. A session and its streams expire together.
 */

/**
 * Writes fields and values that are in ARGV in turn; one by one, because a function of Lua takes a few thousand
 * arguments at most.
 */
const SET = `
  local function set (from)
    for index = from, #ARGV, 2 do redis.call('HSET', KEYS[1], ARGV[index], ARGV[index + 1]) end
  end`

const EXPIRE = `
  redis.call('PEXPIREAT', KEYS[1], expires)
  redis.call('PEXPIREAT', KEYS[2], expires)`

/**
 * ARGV: expiry, then fields and values in turn. A full Redis refuses the first write of a script only, and DEL needs no
 * memory.
 */
export const SAVE = script(`${SET}
  local expires = ARGV[1]
  redis.call('HSET', KEYS[1], ARGV[2], ARGV[3])
  redis.call('DEL', KEYS[1])
  set(2)
  ${EXPIRE}`)

/**
 * ARGV: expiry, channel and message for the other nodes, how many fields are removed, those, then fields and values in
 * turn. 0 if there is no session.
 */
export const UPDATE = script(`${SET}
  if redis.call('EXISTS', KEYS[1]) == 0 then return 0 end
  local expires = ARGV[1]
  local removed = tonumber(ARGV[4])
  set(5 + removed)
  for index = 5, 4 + removed do redis.call('HDEL', KEYS[1], ARGV[index]) end
  ${EXPIRE}
  redis.call('PUBLISH', ARGV[2], ARGV[3])
  return 1`)

/** ARGV: the present home or '', the next. 1 if it was that. */
export const MOVE_HOME = script(`
  if (redis.call('HGET', KEYS[1], 'home') or false) ~= ARGV[1] then return 0 end
  redis.call('HSET', KEYS[1], 'home', ARGV[2])
  return 1`)

/** ARGV: expiry. The principal of the session as JSON, or nil. */
export const TOUCH = script(`
  local expires = ARGV[1]
  local principal = redis.call('HGET', KEYS[1], 'a:principal')
  ${EXPIRE}
  return principal`)

/**
 * ARGV: channel and message for the other nodes, and the latest expiry with which it is removed, or ''. Its principal
 * as JSON, or nil.
 */
export const REMOVE = script(`
  if ARGV[3] ~= '' and redis.call('PEXPIRETIME', KEYS[1]) > tonumber(ARGV[3]) then return nil end
  local principal = redis.call('HGET', KEYS[1], 'a:principal')
  if redis.call('UNLINK', KEYS[1], KEYS[2]) > 0 then redis.call('PUBLISH', ARGV[1], ARGV[2]) end
  return principal`)
