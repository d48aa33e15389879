/** A JSON object. */
type JsonObject = { [member: string]: unknown }

/**
 * Applies a JSON merge patch (RFC 7396 section 2): null removes a member, objects are merged, everything else is replaced. Does
 * not modify its arguments.
 */
export function mergePatch(target: JsonObject, patch: JsonObject): JsonObject {
  const merged = { ...target }
  for (const [name, value] of Object.entries(patch)) {
    if (value === null) delete merged[name]
    else merged[name] = isObject(value) ? mergePatch(isObject(merged[name]) ? (merged[name] as JsonObject) : {}, value) : value
  }
  return merged
}

const isObject = (value: unknown): value is JsonObject => typeof value === 'object' && value !== null && !Array.isArray(value)
