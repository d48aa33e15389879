import { useSyncExternalStore } from 'react'

/** A value outside of components, which render again when it changes. */
interface Store<Value> {
  now(): Value
  set(value: Value): void
  /** The value, in a component. */
  use(): Value
}

export function store<Value>(initial: Value): Store<Value> {
  let value = initial
  const listeners = new Set<() => void>()
  const now = () => value
  const subscribe = (listener: () => void) => {
    listeners.add(listener)
    return () => listeners.delete(listener)
  }
  return {
    now,
    set(to) {
      value = to
      for (const listener of listeners) listener()
    },
    use: () => useSyncExternalStore(subscribe, now),
  }
}
