// The JSON text of views that are kept for many requests, because creating it takes longer than everything else about them.
const texts = new WeakMap<object, string>()
const unknownText = ''

/** Keeps the JSON text of a view once it is created. From now on, the view must not change. */
export function withKeptText<View extends object>(view: View): View {
  texts.set(Object.freeze(view), unknownText)
  return view
}

/** The JSON of a result: a view, or a page of views. */
export function jsonText(result: object): string {
  if (texts.has(result)) return textOf(result)
  const { data } = result as { data?: unknown }
  if (!Array.isArray(data) || !data.some(isKept)) return JSON.stringify(result)
  const members = Object.entries(result).map(([name, value]) => {
    const text = name === 'data' ? `[${data.map(textOf).join(',')}]` : JSON.stringify(value)
    return text === undefined ? [] : `${JSON.stringify(name)}:${text}`
  })
  return `{${members.flat().join(',')}}`
}

const isKept = (item: unknown): boolean => typeof item === 'object' && item !== null && texts.has(item)

function textOf(item: object): string {
  const kept = texts.get(item)
  if (kept) return kept
  const text = JSON.stringify(item)
  if (kept === unknownText) texts.set(item, text)
  return text
}
