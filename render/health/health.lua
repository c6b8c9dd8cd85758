if obj.metadata.deletionTimestamp ~= nil then
  return {status = "Progressing", message = "is being deleted"}
end
local found = nil
if obj.status ~= nil and obj.status.conditions ~= nil then
  for _, c in ipairs(obj.status.conditions) do
    if c.type == "CONDITION" then
      found = c
    end
  end
end
if found == nil then
  for _, f in ipairs(obj.metadata.finalizers or {}) do
    if string.find(f, "vpn.bnerd.net/", 1, true) == 1 or string.find(f, "ipsec.bnerd.net/", 1, true) == 1 then
      return {status = "Progressing", message = "waits for its first condition"}
    end
  end
  return {status = "Healthy", message = "nobody writes conditions here"}
end
if found.observedGeneration ~= nil and obj.metadata.generation ~= nil and found.observedGeneration < obj.metadata.generation then
  return {status = "Progressing", message = "the last edit has not been looked at yet"}
end
local message = found.message
if message == nil or message == "" then
  message = found.reason
end
if found.status == "True" then
  return {status = "Healthy", message = message}
end
if found.status == "False" then
  return {status = "Degraded", message = message}
end
return {status = "Progressing", message = message}
