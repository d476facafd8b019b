-- Asks several buckets of one node at once, all or nothing. KEYS are the
-- buckets, ARGV[1] is what script_request.h packs. Everything is read before
-- anything is written, so an error leaves all as it was.
--
-- Replies {'ok', now_s, now_ns, marks, state, ...}: a mark for each ask ('t'
-- taken, 'r' refused, 'b' refused by a penalty that blocks, '-' none of these),
-- and for each key its state before, '' where it had none. Or, with nothing
-- written, {'other', now_s, now_ns, number, text, ...}: the keys whose bucket is
-- kept under another limit, and the bucket.

local packed = cmsgpack.unpack(ARGV[1])
local at = 0
local function next_value()
  at = at + 1
  return packed[at]
end
local function next_span()
  at = at + 3
  return {packed[at - 2], packed[at - 1], packed[at]}
end

local flags = next_value()
local taking = string.find(flags, 't', 1, true) ~= nil
local writing = string.find(flags, 'w', 1, true) ~= nil
local has_all_quotas = string.find(flags, 'q', 1, true) ~= nil

local keys = {}
for i = 1, #KEYS do
  local name = next_value()
  local algorithm = need(name)
  local key = {algorithm = algorithm, limit = next_value(),
               tokens = next_value()}
  if algorithm.blocks then
    key.hold, key.cost, key.room = next_span(), next_span(), next_span()
  elseif algorithm ~= gcra then
    key.ps, key.pn = next_value(), next_value()
  end
  keys[i] = key
end

local asks = {}
for i = 1, next_value() do
  local ask = {kind = next_value(), key = keys[next_value()],
               penalty = keys[next_value()], group = next_value()}
  local algorithm = ask.key.algorithm
  if algorithm == gcra then
    ask.cost, ask.room = next_span(), next_span()
  else
    ask.cost, ask.reserved = next_value(), next_value()
    if ask.kind == 'R' then
      ask.taken_s, ask.taken_n = next_value(), next_value()
    end
    if algorithm.by_ticket then ask.ticket = next_value() end
  end
  asks[i] = ask
end

-- Buckets that whoever asks has carried over to another limit: what they were,
-- and what they are now.
for _ = 1, next_value() do
  local key = keys[next_value()]
  key.was, key.becomes = next_value(), next_value()
end

local others = {'other', now_s, now_ns}
for i, key in ipairs(keys) do
  local value = redis.call('GET', KEYS[i])
  if not value then
    key.text, key.state = '', key.algorithm.empty
  else
    local limit, text = match(value, '^(%S+) (.*)$')
    if value == key.was then limit, text = key.limit, key.becomes end
    if limit == key.limit then
      key.text, key.state = text, key.algorithm.read(text)
      if not key.state then limit = nil end
    elseif limit then
      others[#others + 1] = i
      others[#others + 1] = value
    end
    if not limit then
      return redis.error_reply('NOBUCKET the value at ' .. KEYS[i] ..
                               ' is no bucket of Tollgate')
    end
  end
  key.before = key.state
end
if #others > 3 then return others end

local marks = {}

local function forget(from)
  for i = from, #marks do
    if marks[i] == 't' then marks[i] = '-' end
  end
end

-- What an ask says: 't', 'r', 'b' or '-'. Takes if `take`.
local function hear(ask, take)
  local kind = ask.kind
  if kind == 'R' then return '-' end
  local penalty = ask.penalty
  if penalty and penalty.algorithm.blocks(penalty.state) then return 'b' end
  local key = ask.key
  local state = key.algorithm.take(key, key.state, ask)
  if not state then return 'r' end
  if not take or kind == 'L' or kind == 'l' then return '-' end
  key.state = state
  return 't'
end

-- Whether a charge that is enforced says no: capital letters are enforced.
local function says_no(ask, mark)
  return (mark == 'r' or mark == 'b') and
         (ask.kind == 'T' or ask.kind == 'L')
end

local groups, groups_over = 0, 0
local i = 1
while i <= #asks do
  local group = asks[i].group
  if group == 0 then
    marks[i] = hear(asks[i], taking)
    if taking and says_no(asks[i], marks[i]) then
      taking = false
      for _, key in ipairs(keys) do key.state = key.before end
      forget(1)
    end
    i = i + 1
  else
    -- The limits of one descriptor under a quota_mode rule: on their own all
    -- or nothing, and they stop nobody else.
    local first, over, kept = i, false, {}
    for k, key in ipairs(keys) do kept[k] = key.state end
    while i <= #asks and asks[i].group == group do
      marks[i] = hear(asks[i], taking and not over)
      over = over or says_no(asks[i], marks[i])
      i = i + 1
    end
    if over then
      for k, key in ipairs(keys) do key.state = kept[k] end
      forget(first)
      groups_over = groups_over + 1
    end
    groups = groups + 1
  end
end
if has_all_quotas and groups > 0 and groups_over == groups then
  for _, key in ipairs(keys) do key.state = key.before end
  forget(1)
end

if writing then
  -- Counts a refusal against each key that was refused, once.
  local punished = {}
  for i, ask in ipairs(asks) do
    local key = ask.penalty
    if key and marks[i] == 'r' and not punished[key] and
        (ask.kind == 'T' or ask.kind == 't') then
      punished[key] = true
      key.state = key.algorithm.take(key, key.state) or key.state
    end
  end
  for _, ask in ipairs(asks) do
    if ask.kind == 'R' then
      ask.key.state = ask.key.algorithm.refund(ask.key, ask.key.state, ask)
    end
  end
  for i, key in ipairs(keys) do
    if key.state ~= key.before then
      -- A second more than it takes, since a clock may go back.
      local s, n = key.algorithm.until_full(key, key.state)
      local left_ms = (s - now_s) * 1000 + math.ceil((n - now_ns) / 1000000)
      redis.call('SET', KEYS[i], key.limit .. ' ' ..
                 key.algorithm.text(key.state), 'PX',
                 format('%.0f', math.max(left_ms, 0) + 1000))
    end
  end
end

local reply = {'ok', now_s, now_ns, table.concat(marks)}
for _, key in ipairs(keys) do reply[#reply + 1] = key.text end
return reply
