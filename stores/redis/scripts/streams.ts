import { script } from './script.js'
import { ADD, BEGIN, COMMON, END, ORDERED, READ } from './stream-functions.js'

/** ARGV: numbers of writes, the interrupted response. */
export const OPEN = script(`${COMMON}${BEGIN}
  if redis.call('EXISTS', KEYS[1]) == 0 then return end
  ${ORDERED}
  begin(ARGV[7])
  if not isRepeated then record() end`)

/**
 * ARGV: numbers of writes, method, text, its length in UTF-16 units, '1' if seen, the last number that this node got,
 * how long a text may be to be sent to another node, the interrupted response of a reply that begins with this, '1' if
 * the stream ends with it. The number and the one before it; 'elsewhere'; 'ended'; nil if there is no session, or the
 * event is no longer stored.
 */
export const APPEND = script(`${COMMON}${BEGIN}${ADD}${END}
  if redis.call('EXISTS', KEYS[1]) == 0 then return nil end
  ${ORDERED}
  local origin = self .. '-' .. ARGV[5]
  local function find ()
    for place = number('last'), number('first'), -1 do
      local found, before, from = string.match(event(place) or '', '^(%d+) (%d+) %d+ (%S+) ')
      if from == origin then return { found, before } end
    end
    return nil
  end
  local to = reader() or self
  if isRepeated then
    if to ~= self then return 'elsewhere' end
    return find()
  end
  if not alone then
    begin(ARGV[13])
    if get('writer') ~= self then return 'elsewhere' end
    if get('ended') then return 'ended' end
  end
  local next, before = add(ARGV[7], ARGV[8], tonumber(ARGV[9]), ARGV[11], origin)
  record()
  if to == self and ARGV[10] == '1' then set('seen', text(next)) end
  local ends = ARGV[14] == '1' and not alone
  if ends then finish() end
  if to == self then return { text(next), text(before) } end
  if ends or #ARGV[8] > tonumber(ARGV[12]) then tell(to, 'more') else tell(to, text(next) .. ' ' .. text(before) .. ' ' .. ARGV[7] .. '\\n' .. ARGV[8]) end
  return 'elsewhere'`)

/** ARGV: number. Only the reader knows what its client has seen. */
export const MARK_SEEN = script(`${COMMON}
  if reader() == self and redis.call('EXISTS', KEYS[2]) == 1 and number('seen') < tonumber(ARGV[5]) then set('seen', ARGV[5]) end`)

/** Ends a reply. ARGV: numbers of writes. */
export const END_STREAM = script(`${COMMON}${END}${ORDERED}
  if alone or get('writer') ~= self or get('ended') then return end
  local to = reader()
  finish()
  if to and to ~= self then tell(to, 'more') end`)

/** The replies of other nodes that are not ended, and their writers, in turn. */
export const UNFINISHED = script(`${COMMON}
  local found = {}
  for name in string.gmatch(redis.call('HGET', KEYS[2], 'open') or '', '%S+') do
    local writer = redis.call('HGET', KEYS[2], name .. '.writer')
    if writer and writer ~= self then found[#found + 1] = name found[#found + 1] = writer end
  end
  return found`)

/**
 * ARGV: the writer that has died. Ends its reply, if it is still that writer's, and tells the node that reads it. Which
 * numbers the writer has given is not known where Redis has lost writes.
 */
export const FINISH = script(`${COMMON}${ADD}${END}
  if get('ended') or get('writer') ~= ARGV[5] then return end
  local latest, word, to = event(get('last')), get('word'), reader()
  local method = latest and string.match(latest, '^%d+ %d+ %d+ %S+ ([^\\n]*)\\n')
  if method ~= '' and word then add('', word, #word, '', '-') end
  finish()
  if to and to ~= self then tell(to, 'more') end`)

/** ARGV: the number after which to read, or ''. */
export const READ_EVENTS = script(`${COMMON}${READ}
  if redis.call('EXISTS', KEYS[1]) == 0 then return nil end
  return read(ARGV[5])`)

/** Makes this node the reader: the reader before or '', and the same as above. */
export const ATTACH = script(`${COMMON}${READ}
  if redis.call('EXISTS', KEYS[1]) == 0 then return nil end
  local from = reader()
  if from and from ~= self then tell(from, 'moved') end
  if alone then redis.call('HSET', KEYS[1], 'home', self) elseif get('writer') then set('reader', self) end
  return { from or '', read(ARGV[5]) or false }`)

/** 1 if this node is the reader. */
export const IS_READER = script(`${COMMON}
  return reader() == self and 1 or 0`)
