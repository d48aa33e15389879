import { useEffect, useState } from 'react'

/** Returns a value once it has stopped changing, such as when the user stops typing. */
export function useDebounced<Value extends string>(value: Value, debounceMs = 300): Value {
  const [debounced, setDebounced] = useState(value)
  useEffect(() => {
    const timer = setTimeout(() => setDebounced(value), debounceMs)
    return () => clearTimeout(timer)
  }, [value, debounceMs])
  return debounced
}
