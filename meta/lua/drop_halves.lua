-- drop_halves removes what is under ids of half messages. Those of a committed
-- transaction go only where they are placed: a recovery may have put them down
-- again, and then they still have to be.
-- uses: pack
-- KEYS: halves. ARGV: "placed" or "all", ids (≤ 500). Returns {OK}.
local ids, gone = {}, {}
for i = 2, #ARGV do ids[i - 1] = ARGV[i] end
for i, value in ipairs(many("HMGET", KEYS[1], ids)) do
  if value and (ARGV[1] == "all" or byte(value, 1) ~= 0) then
    gone[#gone + 1] = ids[i]
  end
end
many("HDEL", KEYS[1], gone)
return {"OK"}
