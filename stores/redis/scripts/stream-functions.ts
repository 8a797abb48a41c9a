import { STANDALONE, STREAM_LIMITS } from '../../../protocol/store.js'

/*
 * KEYS of all: the session and its streams (a hash). ARGV of all: this node, the stream, the channel of a node without
 * its id, the session's id.
 *
 * Fields of a stream S: `S.first` and `S.last` are the places of its first and last event, `S#PLACE` an event ("number
 * after length origin method", a line feed, the text; its origin is "node-write"), `S.write` the number of the last
 * write, in the standalone stream `S.write.NODE` for each node of `writers` ("number seconds"), `S.number` the number
 * of the last event, `S.seen` that of the last one a client saw, `S.size`, `S.ended`, `S.writer`, `S.reader` and
 * `S.word`, its interrupted response. Places have no gaps; numbers have, where Redis has lost writes. `streams` has the
 * replies in their order, `open` those of them that are not ended, `replies` their number and `size` their characters.
 */
export const COMMON = `
  local self, stream = ARGV[1], ARGV[2]
  local alone = stream == '${STANDALONE}'
  local function text (number) return string.format('%.0f', number) end
  local function get (name) return redis.call('HGET', KEYS[2], stream .. '.' .. name) end
  local function number (name) return tonumber(get(name) or '0') end
  local function set (name, value) redis.call('HSET', KEYS[2], stream .. '.' .. name, value) end
  local function event (place) return redis.call('HGET', KEYS[2], stream .. '#' .. place) end
  local function lengthOf (stored) return tonumber(string.match(stored, '^%d+ %d+ (%d+) ')) end
  local function reader ()
    if alone then return redis.call('HGET', KEYS[1], 'home') end
    return get('reader') or get('writer')
  end
  local function tell (node, news) redis.call('PUBLISH', ARGV[3] .. node, 'stream ' .. stream .. ' ' .. ARGV[4] .. '\\n' .. news) end
  local function expireToo ()
    local expires = redis.call('PEXPIRETIME', KEYS[1])
    if expires > 0 then redis.call('PEXPIREAT', KEYS[2], expires) end
  end`

/**
 * For how many seconds the mark of a node that writes nothing is kept: far longer than a write without a reply is sent
 * again.
 */
const MARK_LIFETIME = 600

/**
 * Makes each write of a node to a stream once and in order. ARGV: the number of this write, and of the one before it if
 * that had no reply when this was sent, or 0. Numbers only grow. A node that writes to the standalone stream for the
 * first time removes the marks of those that wrote nothing for long: each start of a node has a new id, and a session
 * may outlive many.
 */
export const ORDERED = `
  local mark = stream .. '.write' .. (alone and '.' .. self or '')
  local marked = redis.call('HGET', KEYS[2], mark)
  local latest = tonumber(string.match(marked or '', '^%d+') or '0')
  if latest < tonumber(ARGV[6]) then return 'early' end
  local isRepeated = tonumber(ARGV[5]) <= latest
  local function record ()
    if not alone then return redis.call('HSET', KEYS[2], mark, ARGV[5]) end
    local now = tonumber(redis.call('TIME')[1])
    redis.call('HSET', KEYS[2], mark, ARGV[5] .. ' ' .. text(now))
    if marked then return end
    local writers = { self }
    for node in string.gmatch(redis.call('HGET', KEYS[2], 'writers') or '', '%S+') do
      local field = stream .. '.write.' .. node
      local wroteAt = tonumber(string.match(redis.call('HGET', KEYS[2], field) or '', ' (%d+)$') or '0')
      if wroteAt > now - ${MARK_LIFETIME} then writers[#writers + 1] = node elseif node ~= self then redis.call('HDEL', KEYS[2], field) end
    end
    redis.call('HSET', KEYS[2], 'writers', table.concat(writers, ' '))
  end`

/** Begins a reply, unless it has begun. */
export const BEGIN = `
  local function begin (word)
    if get('writer') then return end
    redis.call('HSET', KEYS[2], stream .. '.writer', self, stream .. '.first', 1, stream .. '.last', 0, stream .. '.number', 0)
    if word ~= '' then set('word', word) end
    for _, list in ipairs({ 'streams', 'open' }) do redis.call('HSET', KEYS[2], list, (redis.call('HGET', KEYS[2], list) or '') .. stream .. ' ') end
    redis.call('HINCRBY', KEYS[2], 'replies', 1)
    expireToo()
  end`

/**
 * Adds an event and removes the oldest beyond the limits; its number and the one before it. `floor` is the last number
 * that the writer knows, so that none is given twice where Redis has lost events. A writer that does not know it, '',
 * gets the time in microseconds since 2026.
 */
export const ADD = `
  local function add (method, body, length, floor, origin)
    local before = math.max(number('number'), tonumber(floor) or 0)
    local next = before + 1
    if alone or floor == '' then
      local time = redis.call('TIME')
      next = math.max(next, (time[1] - 1767225600) * 1000000 + time[2])
    end
    if alone then
      if not get('first') then set('first', 1) expireToo() end
    end
    local last = redis.call('HINCRBY', KEYS[2], stream .. '.last', 1)
    local first, size = number('first'), number('size') + length
    local removed = 0
    redis.call('HSET', KEYS[2], stream .. '#' .. last, text(next) .. ' ' .. text(before) .. ' ' .. length .. ' ' .. origin .. ' ' .. method .. '\\n' .. body, stream .. '.number', text(next))
    while last - first >= ${STREAM_LIMITS.events} or (size - removed > ${STREAM_LIMITS.text} and first < last) do
      removed = removed + lengthOf(event(first))
      redis.call('HDEL', KEYS[2], stream .. '#' .. first)
      first = first + 1
    end
    redis.call('HSET', KEYS[2], stream .. '.first', first, stream .. '.size', size - removed)
    if not alone then redis.call('HINCRBY', KEYS[2], 'size', length - removed) end
    return next, before
  end`

/**
 * Marks a reply as ended and drops what the session has too much of: replies that were read, then others, oldest first,
 * never the newest.
 */
export const END = `
  local function drop (name)
    local fields = {}
    for place = tonumber(redis.call('HGET', KEYS[2], name .. '.first')), tonumber(redis.call('HGET', KEYS[2], name .. '.last')) do fields[#fields + 1] = name .. '#' .. place end
    for _, field in ipairs({ 'first', 'last', 'number', 'seen', 'size', 'ended', 'writer', 'write', 'reader', 'word' }) do fields[#fields + 1] = name .. '.' .. field end
    redis.call('HINCRBY', KEYS[2], 'size', -tonumber(redis.call('HGET', KEYS[2], name .. '.size') or '0'))
    redis.call('HDEL', KEYS[2], unpack(fields))
    return redis.call('HINCRBY', KEYS[2], 'replies', -1)
  end
  local function exceeds ()
    return tonumber(redis.call('HGET', KEYS[2], 'replies') or '0') > ${STREAM_LIMITS.streams} or tonumber(redis.call('HGET', KEYS[2], 'size') or '0') > ${STREAM_LIMITS.text}
  end
  local function finish ()
    set('ended', 1)
    local others = {}
    for name in string.gmatch(redis.call('HGET', KEYS[2], 'open') or '', '%S+') do if name ~= stream then others[#others + 1] = name .. ' ' end end
    redis.call('HSET', KEYS[2], 'open', table.concat(others))
    if not exceeds() then return end
    local names, kept = {}, {}
    for name in string.gmatch(redis.call('HGET', KEYS[2], 'streams') or '', '%S+') do names[#names + 1] = name end
    for pass = 1, 2 do
      for index = 1, #names - 1 do
        local name = names[index]
        if not exceeds() then break end
        if name then
          local state = redis.call('HMGET', KEYS[2], name .. '.ended', name .. '.seen', name .. '.number')
          if state[1] and (pass == 2 or (state[2] or '0') == (state[3] or '0')) then
            drop(name)
            names[index] = false
          end
        end
      end
    end
    for _, name in ipairs(names) do if name then kept[#kept + 1] = name .. ' ' end end
    redis.call('HSET', KEYS[2], 'streams', table.concat(kept))
  end`

/**
 * The events after a number, or after the last one seen: the state, the number after which they are, and the events.
 * Nil if they are not stored.
 */
export const READ = `
  local function read (after)
    local first, last = number('first'), number('last')
    if first == 0 then first = 1 end
    if not alone and not get('writer') then return nil end
    local function numberAt (place) return tonumber(string.match(event(place), '^%d+')) end
    local given = after ~= '' and tonumber(after) or number('seen')
    local low, high = first, last
    while low <= high do
      local middle = math.floor((low + high) / 2)
      if numberAt(middle) <= given then low = middle + 1 else high = middle - 1 end
    end
    local before = low > last and number('number') or tonumber(string.match(event(low), '^%d+ (%d+)'))
    if after ~= '' and before ~= given then return nil end
    local found = { get('ended') or '0', text(before) }
    for place = low, last do found[#found + 1] = event(place) end
    return found
  end`
