-- pack: numbers in index entries, the text of a queue's head, long argument lists.
-- A library: scripts that say "uses: pack" have it in front of them.

local byte, char, floor = string.byte, string.char, math.floor

-- be gives n as 7 bytes, most significant first. Written out, because loops
-- over bytes were half of a commit's time.
local function be(n)
  local low, rest = n % 16777216, floor(n / 16777216)
  local middle = rest % 65536
  local high = (rest - middle) / 65536
  return char(floor(high / 256) % 256, high % 256, floor(middle / 256), middle % 256,
    floor(low / 65536), floor(low / 256) % 256, low % 256)
end

-- nextof and storedof read the first two fields of a packed entry. Strings are
-- never compared with < or >: Redis compares them by locale.
local function nextof(entry)
  local a, b, c, d, e, f, g = byte(entry, 1, 7)
  return (((a * 256 + b) * 256 + c) * 16777216) * 256 + ((d * 256 + e) * 256 + f) * 256 + g
end

local function storedof(entry)
  local a, b, c, d, e, f = byte(entry, 8, 13)
  return ((a * 256 + b) * 256 + c) * 16777216 + (d * 256 + e) * 256 + f
end

-- dec writes a whole number in full: tostring turns to exponents at 1e14.
local function dec(n)
  return string.format("%.0f", n)
end

-- unhead gives next, min, bytes and stored-at of a queue: zeros for one without
-- messages, nothing when the text has another shape.
local function unhead(text)
  if not text then
    return 0, 0, 0, 0
  end
  local n, m, b, s = string.match(text, "^(%d+) (%d+) (%d+) (%d+)$")
  return tonumber(n), tonumber(m), tonumber(b), tonumber(s)
end

local function tohead(n, m, b, s)
  return string.format("%.0f %.0f %.0f %.0f", n, m, b, s)
end

-- many calls a command with a long list of arguments, 500 at a time (the most
-- is about 1000), and joins array replies.
local function many(command, key, list)
  local all = {}
  for i = 1, #list, 500 do
    local reply = redis.call(command, key, unpack(list, i, math.min(i + 499, #list)))
    if type(reply) == "table" then
      for j = 1, math.min(500, #list - i + 1) do
        all[i + j - 1] = reply[j]
      end
    end
  end
  return all
end
