-- What wrk sends, case by case. Everything is computed from a number, as seed.ts computes the rows,
-- so that ids, codes and HWIDs vary over the whole database without a file of them.
--
-- Arguments: case, providers, links, devices, links in a row of one provider, first unused number,
-- and "verify" to look into every answer (which costs wrk time: for warming up only).

local providers, links, devices, run, counter, expected
local format, floor, random = string.format, math.floor, math.random

-- A permutation of 1 .. 2^31 - 2 (Lehmer): neighbours in time are strangers in an index.
local function scatter(i) return i * 48271 % 2147483647 end

local function code_of(i) return format("gp%010d", scatter(i)) end
local function hwid_of(i) return format("%08x-0000-4000-8000-000000000000", scatter(i)) end
local function provider_of(link) return floor((link - 1) / run) % providers + 1 end

local function fresh()
  counter = counter + 1
  return counter
end

local function get(path, headers)
  return "GET " .. path .. " HTTP/1.1\r\nHost: localhost\r\n" .. (headers or "") .. "\r\n"
end

local function credentials(provider, wrong)
  return format("?provider_code=P%07d&auth_key=%s-key-%022d", provider, wrong or "bench", provider)
end

local function words_of(hwid)
  return "User-Agent: BenchApp/1.0\r\nx-hwid: " .. hwid .. "\r\nx-device-os: Android\r\n" ..
    "x-ver-os: 16\r\nx-device-model: Bench Phone\r\nx-app-version: 1.0\r\n"
end

local function install(link, hwid)
  local query = format("?id=%064d&installid=%s", provider_of(link), code_of(link))
  return get("/install" .. query, words_of(hwid))
end

-- As nginx asks, about the request that an app made.
local function gate(uri, hwid)
  return get("/gate", "X-Original-URI: " .. uri .. "\r\nX-Original-Method: GET\r\n" ..
    "X-Forwarded-Host: sub.example.com\r\nX-Forwarded-For: 127.0.0.1\r\n" .. words_of(hwid))
end

local cases = {
  ["list-one"] = {
    expected = '^{"rc":1,"msg":"Ok","data":%[{"id":%d+,',
    request = function()
      local link = random(links)
      return get("/api/list-install" .. credentials(provider_of(link)) .. "&id=" .. link)
    end,
  },
  ["list-5000"] = {
    expected = '^{"rc":1,"msg":"Ok","data":%[{"id":%d+,.*}%]}$',
    request = function() return get("/api/list-install" .. credentials(random(providers))) end,
  },
  ["add-install"] = {
    expected = '^{"rc":1,"msg":"Ok","install_code":"gp%d+","id":%d+}$',
    request = function()
      local code = code_of(fresh())
      local who = credentials(random(providers))
      return get("/api/add-install" .. who .. "&install_limit=5&note=bench&install_code=" .. code)
    end,
  },
  ["known-hwid"] = {
    expected = '^{"rc":1,"msg":"Ok","provider_id":"P%d+","status":10,',
    request = function()
      local device = random(devices)
      return install(device * (links / devices), hwid_of(device))
    end,
  },
  ["gate-code"] = {
    expected = '^$',
    request = function()
      local device = random(devices)
      local link = device * (links / devices)
      return gate("/sub?installid=" .. code_of(link), hwid_of(device))
    end,
  },
  ["gate-key"] = {
    expected = '^$',
    request = function()
      local device = random(devices)
      local link = device * (links / devices)
      return gate("/sub/key-" .. code_of(link), hwid_of(device))
    end,
  },
  ["new-hwid"] = {
    expected = '^{"rc":1,"msg":"Ok","provider_id":"P%d+","status":10,',
    request = function() return install(random(links), hwid_of(fresh())) end,
  },
  ["wrong-key"] = {
    expected = '^{"rc":0,"msg":"Auth error"}$',
    request = function()
      return get("/api/list-install" .. credentials(random(providers), "wrong") .. "&id=1")
    end,
  },
}

-- Half known devices, three lists in ten, one wrong key in ten, one added link in ten.
local SHARES = { "known-hwid", "known-hwid", "known-hwid", "known-hwid", "known-hwid",
  "list-one", "list-one", "list-one", "wrong-key", "add-install" }
cases.mixed = {
  expected = '^{"rc":[01],"msg":"[OA][ku]',
  request = function() return cases[SHARES[random(#SHARES)]].request() end,
}

misfits = 0
misfit = ""

function init(args)
  local case = cases[args[1]]
  -- One request again and again: wrk's own, of its address and headers.
  if not case then return end
  providers, links, devices = tonumber(args[2]), tonumber(args[3]), tonumber(args[4])
  run, counter = tonumber(args[5]), tonumber(args[6])
  math.randomseed(counter)
  request = case.request
  if args[7] == "verify" then
    expected = case.expected
    response = function(_, _, body)
      if not body:find(expected) then
        misfits = misfits + 1
        misfit = body:sub(1, 200)
      end
    end
  end
end

local threads = {}
function setup(thread) threads[#threads + 1] = thread end

function done(summary, latency)
  local e = summary.errors
  local wrong, example = 0, ""
  for _, thread in ipairs(threads) do
    wrong = wrong + thread:get("misfits")
    if thread:get("misfit") ~= "" then example = thread:get("misfit") end
  end
  io.write(format(
    "RESULT requests=%d us=%d bytes=%d errors=%d p50=%d p99=%d misfits=%d misfit=%s\n",
    summary.requests, summary.duration, summary.bytes,
    e.connect + e.read + e.write + e.status + e.timeout,
    latency:percentile(50), latency:percentile(99), wrong, example
  ))
end
