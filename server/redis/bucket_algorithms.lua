-- The algorithms of server/limiter for one run of a script: what they say at the
-- instant `now_s`, `now_ns`, which the lines before this file read from Redis'
-- own clock.
--
-- Lua's numbers are doubles, exact up to 2^53. So instants and spans are
-- seconds and nanoseconds apart, those of GCRA also with a part in 1/tokens of
-- a nanosecond, and where two of them would have to be multiplied, limbs of
-- 10^9. What needs a division is computed by whoever asks. tests/golden proves
-- that the outcomes are those of the C++ code.
--
-- An algorithm reads a state from text, or says nil where that is none, and
-- writes it; `take` and `refund` return another state, and never change the one
-- they get, so that to forget what was taken is to keep the old one. `take`
-- returns nil to refuse. `until_full` is the instant from which a bucket that
-- nobody has touched would decide the same.

local G = 1000000000
local floor = math.floor
local match = string.match
local format = string.format

local function before(as, an, bs, bn)
  return as < bs or (as == bs and an < bn)
end

local function later(s, n)
  if before(now_s, now_ns, s, n) then return s, n end
  return now_s, now_ns
end

local function plus(as, an, bs, bn)
  local s, n = as + bs, an + bn
  if n >= G then return s + 1, n - G end
  return s, n
end

local function minus(as, an, bs, bn)
  local s, n = as - bs, an - bn
  if n < 0 then return s - 1, n + G end
  return s, n
end

-- Every run of a script makes its functions anew, which costs more than what
-- they do. So only the algorithm that most rules have is there at once; the
-- others, and what some of them share, are made for whoever needs them.
local makers, made = {}, {}

local function need(name)
  local it = made[name]
  if not it then
    it = makers[name]()
    made[name] = it
  end
  return it
end

-- The generic cell rate algorithm: {full s, n, part, seen s, n}.
local gcra = {empty = {0, 0, 0, 0, 0}}

function gcra.read(text)
  local a, b, c, d, e = match(text, '^(%d+) (%d+) (%d+) (%d+) (%d+)$')
  if a == nil then return nil end
  return {tonumber(a), tonumber(b), tonumber(c), tonumber(d), tonumber(e)}
end

function gcra.text(state)
  return format('%.0f %.0f %.0f %.0f %.0f', state[1], state[2], state[3],
                state[4], state[5])
end

function gcra.until_full(_, state) return state[1], state[2] + 1 end

-- What is missing at (s, n), which is not before the bucket's own time.
local function missing(state, s, n)
  if before(state[1], state[2], s, n) then return 0, 0, 0 end
  local ms, mn = minus(state[1], state[2], s, n)
  return ms, mn, state[3]
end

-- `cost` and `room` are spans: what is asked takes to refill, and the most that
-- may be missing afterwards.
local function gcra_take(state, tokens, cost, room)
  local s, n = later(state[4], state[5])
  local ms, mn, mp = missing(state, s, n)
  mp = mp + cost[3]
  mn = mn + cost[2]
  ms = ms + cost[1]
  if mp >= tokens then mp, mn = mp - tokens, mn + 1 end
  if mn >= G then mn, ms = mn - G, ms + 1 end
  if ms > room[1] or (ms == room[1] and (mn > room[2] or
      (mn == room[2] and mp > room[3]))) then
    return nil
  end
  local fs, fn = plus(s, n, ms, mn)
  return {fs, fn, mp, s, n}
end

function gcra.take(key, state, ask)
  return gcra_take(state, key.tokens, ask.cost, ask.room)
end

function gcra.refund(key, state, ask)
  local s, n = later(state[4], state[5])
  local ms, mn, mp = missing(state, s, n)
  local cost = ask.cost
  mp = mp - cost[3]
  mn = mn - cost[2]
  ms = ms - cost[1]
  if mp < 0 then mp, mn = mp + key.tokens, mn - 1 end
  if mn < 0 then mn, ms = mn + G, ms - 1 end
  if ms < 0 then ms, mn, mp = 0, 0, 0 end
  local fs, fn = plus(s, n, ms, mn)
  return {fs, fn, mp, s, n}
end

made.token_bucket, made.leaky_bucket = gcra, gcra

-- Counts refusals, then blocks: as gcra, and whether the first instant is the
-- end of a block.
function makers.penalty()
  local penalty = {empty = {0, 0, 0, 0, 0, 0}}

  function penalty.read(text)
    local counted, flag = match(text, '^(.*) ([01])$')
    local state = counted and gcra.read(counted)
    if not state then return nil end
    state[6] = tonumber(flag)
    return state
  end

  function penalty.text(state)
    return gcra.text(state) .. format(' %.0f', state[6])
  end

  penalty.until_full = gcra.until_full

  function penalty.blocks(state)
    local s, n = later(state[4], state[5])
    return state[6] == 1 and before(s, n, state[1], state[2])
  end

  function penalty.take(key, state)
    if penalty.blocks(state) then return nil end
    local s, n = later(state[4], state[5])
    if state[6] == 1 then state = {0, 0, 0, s, n} end
    local taken = gcra_take(state, key.tokens, key.cost, key.room)
    if taken then
      taken[6] = 0
      return taken
    end
    local fs, fn = plus(s, n, key.hold[1], key.hold[2])
    return {fs, fn, 0, s, n, 1}
  end

  return penalty
end

-- What algorithms with windows share.
function makers.windows()
  local windows = {}

  -- count * (s, n) in limbs; count < 2^32, s < 2^29.
  function windows.times(count, s, n)
    local high, low = floor(count / 65536), count % 65536
    local n1 = high * n
    local s1 = high * s + floor(n1 / G)
    local n2 = (n1 % G) * 65536 + low * n
    local s2 = (s1 % G) * 65536 + low * s + floor(n2 / G)
    return floor(s1 / G) * 65536 + floor(s2 / G), s2 % G, n2 % G
  end

  -- Where the window of that period that runs now began.
  function windows.start(ps, pn)
    if ps == 0 then
      local rest = now_s % pn
      for _ = 1, 3 do rest = rest * 1000 % pn end
      return minus(now_s, now_ns, 0, (rest + now_ns) % pn)
    end
    local periods = floor((now_s + now_ns / G) / (ps + pn / G))
    local high, s, n = windows.times(periods, ps, pn)
    s = high * G + s
    -- The quotient was rounded: one too many, or one too few.
    if before(now_s, now_ns, s, n) then return minus(s, n, ps, pn) end
    local next_s, next_n = plus(s, n, ps, pn)
    if before(now_s, now_ns, next_s, next_n) then return s, n end
    return next_s, next_n
  end

  return windows
end

-- {start s, n, count}
function makers.fixed_window()
  local windows = need('windows')
  local fixed_window = {empty = {0, 0, 0}}

  function fixed_window.read(text)
    local a, b, c = match(text, '^(%d+) (%d+) (%d+)$')
    return a and {tonumber(a), tonumber(b), tonumber(c)}
  end

  function fixed_window.text(state)
    return format('%.0f %.0f %.0f', state[1], state[2], state[3])
  end

  function fixed_window.until_full(key, state)
    return plus(state[1], state[2], key.ps, key.pn)
  end

  local function fixed_at(key, state)
    local s, n = windows.start(key.ps, key.pn)
    if before(state[1], state[2], s, n) then return {s, n, 0} end
    return state
  end

  function fixed_window.take(key, state, ask)
    state = fixed_at(key, state)
    if state[3] + ask.cost + ask.reserved > key.tokens then return nil end
    return {state[1], state[2], state[3] + ask.cost}
  end

  function fixed_window.refund(key, state, ask)
    local at = fixed_at(key, state)
    if before(ask.taken_s, ask.taken_n, at[1], at[2]) then return state end
    return {at[1], at[2], math.max(at[3] - ask.cost, 0)}
  end

  return fixed_window
end

-- {start s, n, count, count of the window before}
function makers.sliding_window()
  local windows = need('windows')
  local sliding_window = {empty = {0, 0, 0, 0}}

  function sliding_window.read(text)
    local a, b, c, d = match(text, '^(%d+) (%d+) (%d+) (%d+)$')
    return a and {tonumber(a), tonumber(b), tonumber(c), tonumber(d)}
  end

  function sliding_window.text(state)
    return format('%.0f %.0f %.0f %.0f', state[1], state[2], state[3], state[4])
  end

  function sliding_window.until_full(key, state)
    local s, n = plus(state[1], state[2], key.ps, key.pn)
    if state[3] == 0 then return s, n end
    return plus(s, n, key.ps, key.pn)
  end

  local function sliding_at(key, state)
    local s, n = windows.start(key.ps, key.pn)
    if not before(state[1], state[2], s, n) then return state end
    local next_s, next_n = plus(state[1], state[2], key.ps, key.pn)
    if next_s == s and next_n == n then return {s, n, 0, state[3]} end
    return {s, n, 0, 0}
  end

  -- Whether count + previous * (period - elapsed) / period, rounded up, leaves
  -- room for what is wanted.
  function sliding_window.take(key, state, ask)
    state = sliding_at(key, state)
    local room = key.tokens - state[3] - ask.cost - ask.reserved
    if room < 0 then return nil end
    if state[4] > 0 then
      local at_s, at_n = later(state[1], state[2])
      local es, en = minus(at_s, at_n, state[1], state[2])
      local ls, ln = minus(key.ps, key.pn, es, en)
      local a1, a2, a3 = windows.times(state[4], ls, ln)
      local b1, b2, b3 = windows.times(room, key.ps, key.pn)
      if a1 > b1 or (a1 == b1 and (a2 > b2 or (a2 == b2 and a3 > b3))) then
        return nil
      end
    end
    return {state[1], state[2], state[3] + ask.cost, state[4]}
  end

  function sliding_window.refund(key, state, ask)
    local at = sliding_at(key, state)
    if not before(ask.taken_s, ask.taken_n, at[1], at[2]) then
      return {at[1], at[2], math.max(at[3] - ask.cost, 0), at[4]}
    end
    local s, n = minus(at[1], at[2], key.ps, key.pn)
    if before(ask.taken_s, ask.taken_n, s, n) then return state end
    return {at[1], at[2], at[3], math.max(at[4] - ask.cost, 0)}
  end

  return sliding_window
end

-- What algorithms that keep a list share. A state is {seen s, n, {item, ...}};
-- an item is an array of strings and numbers.
function makers.lists()
  local lists = {}

  function lists.read(text, pattern)
    local s, n, rest = match(text, '^(%d+) (%d+)(.*)$')
    if s == nil then return nil end
    local items, size = {}, 0
    for all, a, b, c, d in string.gmatch(rest, pattern) do
      items[#items + 1] = {a, tonumber(b), tonumber(c), tonumber(d)}
      size = size + #all
    end
    if size ~= #rest then return nil end
    return {tonumber(s), tonumber(n), items}
  end

  function lists.text(state, item_format)
    local parts = {format('%.0f %.0f', state[1], state[2])}
    for i, item in ipairs(state[3]) do
      parts[i + 1] = format(item_format, unpack(item))
    end
    return table.concat(parts)
  end
  return lists
end

-- Items are {'@', at s, n, cost}, oldest first.
function makers.sliding_log()
  local lists = need('lists')
  local sliding_log = {empty = {0, 0, {}}}

  function sliding_log.read(text)
    return lists.read(text, '( (@)(%d+) (%d+) (%d+))')
  end

  function sliding_log.text(state)
    return lists.text(state, ' %s%.0f %.0f %.0f')
  end

  function sliding_log.until_full(key, state)
    local last = state[3][#state[3]]
    if last == nil then return state[1], state[2] end
    return plus(last[2], last[3], key.ps, key.pn)
  end

  -- The admissions that count at (s, n), and what they cost.
  local function counting(key, state, s, n)
    local items, spent = {}, 0
    for _, item in ipairs(state[3]) do
      local end_s, end_n = plus(item[2], item[3], key.ps, key.pn)
      if before(s, n, end_s, end_n) then
        items[#items + 1] = item
        spent = spent + item[4]
      end
    end
    return items, spent
  end

  function sliding_log.take(key, state, ask)
    local s, n = later(state[1], state[2])
    local items, spent = counting(key, state, s, n)
    if spent + ask.cost + ask.reserved > key.tokens then return nil end
    local last = items[#items]
    if last and last[2] == s and last[3] == n then
      items[#items] = {'@', s, n, last[4] + ask.cost}
    else
      items[#items + 1] = {'@', s, n, ask.cost}
    end
    return {s, n, items}
  end

  function sliding_log.refund(key, state, ask)
    local s, n = later(state[1], state[2])
    local items = counting(key, state, s, n)
    for i, item in ipairs(items) do
      if item[2] == ask.taken_s and item[3] == ask.taken_n then
        if item[4] > ask.cost then
          items[i] = {'@', item[2], item[3], item[4] - ask.cost}
        else
          table.remove(items, i)
        end
        return {s, n, items}
      end
    end
    return state
  end

  return sliding_log
end

-- Items are {ticket, slots, expires s, n}; a ticket is text, since it has 64
-- bits.
function makers.concurrency()
  local lists = need('lists')
  local concurrency = {empty = {0, 0, {}}, by_ticket = true}

  function concurrency.read(text)
    return lists.read(text, '( (%x+) (%d+) (%d+) (%d+))')
  end

  function concurrency.text(state)
    return lists.text(state, ' %s %.0f %.0f %.0f')
  end

  function concurrency.until_full(_, state)
    local s, n = state[1], state[2]
    for _, item in ipairs(state[3]) do
      if before(s, n, item[3], item[4]) then s, n = item[3], item[4] end
    end
    return s, n
  end

  function concurrency.take(key, state, ask)
    local s, n = later(state[1], state[2])
    local items, held = {}, 0
    for _, item in ipairs(state[3]) do
      if before(s, n, item[3], item[4]) then
        items[#items + 1] = item
        held = held + item[2]
      end
    end
    if held + ask.cost + ask.reserved > key.tokens then return nil end
    local es, en = plus(s, n, key.ps, key.pn)
    items[#items + 1] = {ask.ticket, ask.cost, es, en}
    return {s, n, items}
  end

  function concurrency.refund(_, state, ask)
    local s, n = later(state[1], state[2])
    local items, found = {}, false
    for _, item in ipairs(state[3]) do
      if item[1] == ask.ticket and before(s, n, item[3], item[4]) then
        found = true
      else
        items[#items + 1] = item
      end
    end
    if not found then return state end
    return {s, n, items}
  end

  return concurrency
end
