-- acquire takes or renews a lease.
-- uses: pack clock lease
-- KEYS: lease. ARGV: holder, ttl in ms. Returns {OK, term} | HELD.
local term = take(KEYS[1], ARGV[1], ARGV[2])
if term then
  return {"OK", term}
end
return {"HELD"}
