-- Asks Gatepost about a request, for haproxy.cfg beside this file: what it says is in txn.gate_*,
-- drops headers by which the panel sends apps elsewhere, and adds the messages that ride on its answer:
-- gate.ride of Gatepost's settings.

-- On an appliance with several providers: /gate?provider_code=CODE
local GATE = "http://127.0.0.1:8080/gate"

-- Of the client's headers those alone that an app describes its device in, its language, and the
-- secret of a bot.
local WORDS = {
  "x-hwid", "x-device-os", "x-ver-os", "x-device-model", "x-app-version", "x-device-info",
  "user-agent", "accept-language", "x-device-locale", "x-device-protocol", "authorization",
}
local ANSWERS = {
  "x-hwid-active", "x-hwid-not-supported", "x-hwid-max-devices-reached", "x-error-detail",
  "announce", "clod-hwid-limit",
}

-- Headers of Gatepost's answer that go to the app with each answer of the panel that it may have, and
-- the name of the header in which Gatepost names those of messages.
local ALWAYS = { "support-url", "profile-web-page-url", "profile-update-interval" }
local RIDES = "x-gatepost-rides"
-- Where an app that asks finds the server of messages: with a subscription alone.
local SERVER = "x-device-server"
-- To these a panel could answer without headers, or with a part.
local CONDITIONS = {
  "if-none-match", "if-modified-since", "if-range", "if-match", "if-unmodified-since", "range",
}
-- By these a panel that limits devices itself refuses one: `announce` then is the reason.
local REFUSALS = { "x-hwid-max-devices-reached", "x-hwid-not-supported", "x-hwid-limit" }

-- The hosts to which headers of the panel may send apps for their subscription; with other hosts they
-- are dropped, and so are values in base64. Some apps take a name with more before it: x-amz-meta-new-url.
local HOSTS = { ["sub.example.com"] = true }
local MOVES = {
  "new-url", "new-domain", "new-sub-domain", "flclashx-newdomain", "fallback-url", "fallback-domain",
  "moved-permanently-to",
}

-- A header's lines as one, as if a proxy had handed them on. They begin at 0.
local function joined(lines)
  local values, at = {}, 0
  while lines and lines[at] do
    values[#values + 1] = lines[at]
    at = at + 1
  end
  return table.concat(values, ", ")
end

-- The headers for the answer of the panel, by name, in lower case; an empty one takes a text back.
local function riding(answers)
  local rides, named = {}, joined(answers[RIDES])
  local function take(name)
    if answers[name] then rides[name] = joined(answers[name]) end
  end
  for _, name in ipairs(ALWAYS) do take(name) end
  for name in named:gmatch("[%w-]+") do take(name) end
  local server = answers[SERVER] and joined(answers[SERVER])
  return { headers = rides, is_due = named ~= "", server = server }
end

core.register_action("gate", { "http-req" }, function(txn)
  local given = txn.http:req_get_headers()
  -- A number before HAProxy 3.1.
  local by_tls = txn.f:ssl_fc()
  local is_tls = by_tls == true or by_tls == 1
  local headers = {
    ["x-forwarded-uri"] = { txn.f:pathq() },
    ["x-forwarded-method"] = { txn.f:method() },
    ["x-forwarded-host"] = { joined(given["host"]) },
    ["x-forwarded-for"] = { txn.f:src() },
    ["x-forwarded-proto"] = { is_tls and "https" or "http" },
  }
  for _, name in ipairs(WORDS) do
    if given[name] then headers[name] = { joined(given[name]) } end
  end
  local answer = core.httpclient():get({ url = GATE, headers = headers, timeout = 10000 })
  txn:set_var("txn.gate_status", answer and answer.status or 0)
  for _, name in ipairs(ANSWERS) do
    local value = joined(answer and answer.headers and answer.headers[name])
    if value ~= "" then txn:set_var("txn." .. name:gsub("-", "_"), value) end
  end
  local rides = riding(answer and answer.headers or {})
  txn:set_priv(rides)
  if rides.is_due then
    for _, name in ipairs(CONDITIONS) do txn.http:req_del_header(name) end
  end
end)

-- True if the value is one URL or host name, of a host in the list.
local function is_own(value)
  local host, rest = value:gsub("^[Hh][Tt][Tt][Pp][Ss]?://", ""):match("^([%w.-]+)(.*)$")
  if not host or not HOSTS[host:lower()] then return false end
  rest = rest:gsub("^:%d+", "")
  return rest == "" or rest:match("^[/?#][^%s,;|@\\]*$") ~= nil
end

local function moves(name)
  for _, move in ipairs(MOVES) do
    if name == move or name:sub(-#move - 1) == "-" .. move then return true end
  end
  return false
end

core.register_action("moves", { "http-res" }, function(txn)
  -- Only Gatepost says where the server of messages is.
  txn.http:res_del_header(SERVER)
  for name, lines in pairs(txn.http:res_get_headers()) do
    if moves(name) and not is_own(joined(lines)) then txn.http:res_del_header(name) end
  end
end)

core.register_action("ride", { "http-res" }, function(txn)
  local rides, status = txn:get_priv(), txn.f:status()
  if not rides or status < 200 or status > 299 then return end
  local given = txn.http:res_get_headers()
  for _, name in ipairs(REFUSALS) do
    local value = joined(given[name]):lower()
    if value ~= "" and value ~= "false" then return end
  end
  local is_page = joined(given["content-type"]):lower():match("^%s*text/html")
  if rides.server and status == 200 and not is_page then
    txn.http:res_set_header(SERVER, rides.server)
  end
  -- A link of the panel belongs to its own text.
  if rides.headers["announce"] then txn.http:res_del_header("announce-url") end
  for name, value in pairs(rides.headers) do txn.http:res_set_header(name, value) end
  if not rides.is_due then return end
  txn.http:res_set_header("cache-control", "private, no-cache")
  txn.http:res_add_header("vary", "accept-language, x-device-locale, user-agent")
end)
