-- remember: reads and writes the keys that identity.lua decides by. A library.
-- judged = {verdicts, same, parts, answers, wants, keys, changed}: by number of the
-- request its verdict, the request it duplicates, the runs it was given, its answer,
-- the offset that it must get, its key; and which keys must be written.

-- recall reads count identity keys from KEYS[from] on; kinds says of which kind each is.
local function recall(from, count, kinds)
  local known = {}
  for i = 1, count do
    local value = redis.call("GET", KEYS[from + i - 1])
    if value and kinds[i] == "k" then
      known[i] = {body = string.sub(value, 1, 16), answer = string.sub(value, 17)}
    elseif value then
      known[i] = producer(value)
    end
  end
  return known
end

-- judge decides count requests, read from ARGV[at] on, in their order.
local function judge(at, count, known)
  local j = {verdicts = {}, same = {}, parts = {}, answers = {}, wants = {}, keys = {}, changed = {}}
  for n = 1, count do
    local r = {key = tonumber(ARGV[at]), kind = ARGV[at + 1], a = ARGV[at + 2], b = ARGV[at + 3]}
    j.verdicts[n], j.same[n] = decide(known, r, n)
    if j.verdicts[n] == "S" then
      j.parts[n], j.answers[n], j.changed[r.key] = {}, ARGV[at + 4], true
      j.wants[n], j.keys[n] = r.kind == "k" and tonumber(r.b) or nil, r.key
    end
    at = at + 5
  end
  return j, at
end

-- meet settles a condition of request n, once: it is left out, with whatever repeats
-- it in the same commit, unless it gets the offset that it must get.
local function meet(j, n, offset)
  local want = j.wants[n]
  j.wants[n] = nil
  if not want or want == offset then
    return
  end
  j.verdicts[n], j.answers[n], j.changed[j.keys[n]] = "C" .. dec(offset), nil, nil
  for m, first in pairs(j.same) do
    if first == n then
      j.verdicts[m] = j.verdicts[n]
    end
  end
end

-- remember writes back what the stored requests changed.
local function remember(from, known, judged, ttl)
  local answers = judged.answers
  for i in pairs(judged.changed) do
    local k = known[i]
    if k.body then
      redis.call("SET", KEYS[from + i - 1], k.body .. answers[k.from], "PX", ttl.k)
    else
      local lines = {dec(k.epoch) .. " " .. dec(k.last)}
      for j = math.max(1, #k.seqs - 4), #k.seqs do
        local answer = k.answers[k.seqs[j]]
        if type(answer) == "number" then
          answer = answers[answer]
        end
        lines[#lines + 1] = k.seqs[j] .. "=" .. answer
      end
      redis.call("SET", KEYS[from + i - 1], table.concat(lines, "\n"), "PX", ttl.p)
    end
  end
end
