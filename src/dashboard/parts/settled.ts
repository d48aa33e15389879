import { useEffect, useState } from 'react'

const restMs = 300

/** A value once it has rested: what is typed, when the typing pauses. */
export function useSettled<Value extends string>(value: Value): Value {
  const [settled, setSettled] = useState(value)
  useEffect(() => {
    const timer = setTimeout(() => setSettled(value), restMs)
    return () => clearTimeout(timer)
  }, [value])
  return settled
}
