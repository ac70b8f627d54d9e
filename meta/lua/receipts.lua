-- receipts: what a writer's last commits were answered. A library.
-- One line per commit: seq, topic epoch, stored-at, first offset per queue
-- joined by commas, then " n=verdict" for each request that was not stored.

-- receipt finds the line of a commit, if it was made in this epoch.
local function receipt(lines, seq, epoch)
  for line in string.gmatch(lines or "", "[^\n]+") do
    local s, e = string.match(line, "^(%d+) (%d+) ")
    if s == seq and e == epoch then
      return line
    end
  end
end

-- keep adds a line and drops the oldest beyond eight.
local function keep(lines, line)
  local all = {}
  for old in string.gmatch(lines or "", "[^\n]+") do
    all[#all + 1] = old
  end
  all[#all + 1] = line
  return table.concat(all, "\n", math.max(1, #all - 7))
end

-- exceptions completes the answers and adds the verdict of every request that
-- was not stored to a line in the making.
local function exceptions(line, judged)
  for n, answer in pairs(judged.answers) do
    judged.answers[n] = answer .. table.concat(judged.parts[n], ",")
  end
  for n, verdict in ipairs(judged.verdicts) do
    if verdict ~= "S" then
      line[#line + 1] = n .. "=" .. verdict .. (judged.answers[judged.same[n]] or "")
    end
  end
end
