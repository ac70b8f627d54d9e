-- pack: numbers in index entries, the text of a queue's head, long argument lists.
-- A library: scripts that say "uses: pack" have it in front of them.

-- be gives n in so many bytes, most significant first.
local function be(n, width)
  local bytes = ""
  for _ = 1, width do
    local low = n % 256
    bytes = string.char(low) .. bytes
    n = (n - low) / 256
  end
  return bytes
end

-- num reads bytes from..to of s. Strings are never compared with < or >: Redis
-- compares them by locale.
local function num(s, from, to)
  local n = 0
  for i = from, to do
    n = n * 256 + string.byte(s, i)
  end
  return n
end

-- dec writes a whole number in full: tostring turns to exponents at 1e14.
local function dec(n)
  return string.format("%.0f", n)
end

-- unhead gives next, min, bytes and stored-at of a queue; zeros for a queue
-- without messages; nothing when the text has another shape.
local function unhead(text)
  if not text then
    return 0, 0, 0, 0
  end
  local n, m, b, s = string.match(text, "^(%d+) (%d+) (%d+) (%d+)$")
  return tonumber(n), tonumber(m), tonumber(b), tonumber(s)
end

local function tohead(n, m, b, s)
  return dec(n) .. " " .. dec(m) .. " " .. dec(b) .. " " .. dec(s)
end

-- many calls a command with a long list of arguments, 500 at a time, and joins
-- array replies: one call takes about 1000 on every server.
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
