import { use, type ComponentType, type ReactNode } from 'react'
import { checkVersion, onReconnect, reconnect } from './connection'

/** Thrown by a component whose code could not be loaded. */
export class CodeNotLoaded extends Error {
  override name = 'CodeNotLoaded'
}

const preloads = new Set<() => Promise<void>>()
const failed = new Set<() => void>()

/**
 * A component whose code is loaded on first use, or by `prefetchCode`. If that fails, it throws `CodeNotLoaded` until `retryCode` is
 * called.
 */
export function lazyComponent<Props extends object>(
  load: () => Promise<{ default: ComponentType<Props> }>,
): ((props: Props) => ReactNode) & { preload(): Promise<void> } {
  let loading: Promise<void> | undefined
  let Loaded: ComponentType<Props> | undefined
  const start = () =>
    (loading ??= load().then(
      code => {
        Loaded = code.default
        preloads.delete(preload)
      },
      (cause: unknown) => {
        failed.add(() => (loading = undefined))
        // Either the hub is unreachable, or it has another version, whose files have other names.
        void reconnect().then(checkVersion)
        throw new CodeNotLoaded('The code of this page could not be loaded.', { cause })
      },
    ))
  const preload = () => start().catch(() => {})
  preloads.add(preload)
  function Lazy(props: Props) {
    if (!Loaded) use(start())
    return Loaded && <Loaded {...props} />
  }
  return Object.assign(Lazy, { preload })
}

/** Loads code that failed to load again when it is used the next time. */
export function retryCode(): void {
  for (const forget of failed) forget()
  failed.clear()
}

const prefetchAfterMs = 5000
const idle = () => new Promise<unknown>(resolve => (globalThis.requestIdleCallback ?? setTimeout)(resolve))

/**
 * Loads the code of all pages while the browser is idle, one file after another, so that pages also open while the hub is unreachable.
 * @returns a function that stops it
 */
export function prefetchCode(): () => void {
  let isStopped = false
  const load = async () => {
    for (let [preload] = preloads; preload && !isStopped; [preload] = preloads) {
      await idle()
      await preload()
      // Continues once the hub responds again.
      if (failed.size > 0) return
    }
  }
  const timer = setTimeout(() => void load(), prefetchAfterMs)
  const removeListener = onReconnect(() => {
    retryCode()
    void load()
  })
  return () => {
    isStopped = true
    clearTimeout(timer)
    removeListener()
  }
}
