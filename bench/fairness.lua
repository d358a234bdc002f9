-- One party that asks as fast as it is answered. Arguments: the request, in which {n} stands for a
-- number that never comes twice and {code} for the code of one of its links; then providers and
-- links of the seed, as load.lua has them.

local template, providers, links, counter

function init(args)
  template, providers, links = args[1], tonumber(args[2]), tonumber(args[3])
  counter = 0
end

function request()
  counter = counter + 1
  local link = (counter % (links / providers)) * providers + 1
  local code = string.format("gp%010d", link * 48271 % 2147483647)
  return (template:gsub("{n}", string.format("%09d", counter)):gsub("{code}", code))
end

function done(summary)
  local errors = summary.errors
  io.write(string.format("RESULT requests=%d failed=%d us=%d\n", summary.requests,
    errors.connect + errors.read + errors.write + errors.status + errors.timeout, summary.duration))
end
