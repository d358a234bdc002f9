-- Asks Gatepost about a request, for haproxy.cfg beside this file: what it says is in txn.gate_*.

-- On an appliance with several providers: /gate?provider_code=CODE
local GATE = "http://127.0.0.1:8080/gate"

-- Of the client's headers those alone that an app describes its device in, and its language.
local WORDS = {
  "x-hwid", "x-device-os", "x-ver-os", "x-device-model", "x-app-version", "x-device-info",
  "user-agent", "accept-language", "x-device-locale",
}
local ANSWERS = {
  "x-hwid-not-supported", "x-hwid-max-devices-reached", "x-error-detail", "announce",
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

core.register_action("gate", { "http-req" }, function(txn)
  local given = txn.http:req_get_headers()
  local headers = {
    ["x-forwarded-uri"] = { txn.f:pathq() },
    ["x-forwarded-method"] = { txn.f:method() },
    ["x-forwarded-host"] = { joined(given["host"]) },
    ["x-forwarded-for"] = { txn.f:src() },
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
end)
