import { hubNow } from './hub-clock'
import { store } from './parts/store'

interface Outage {
  /** When the hub last responded, in milliseconds since the epoch. */
  since: number
  /** Failed attempts to reconnect so far. Until the first, it may be only a single lost request. */
  attempts: number
}

/** Set while the hub can't be reached. */
const outage = store<Outage | null>(null)
/** Whether the hub serves another version of the dashboard than the one in this tab. */
export const isOutdated = store(false)

const listeners = new Set<() => void>()
let lastResponseAt = hubNow()
let timer: ReturnType<typeof setTimeout> | undefined

/** Since when the hub can't be reached, in milliseconds since the epoch. Null while it responds. */
export function useUnreachableSince(): number | null {
  const found = outage.use()
  return found && found.attempts > 0 ? found.since : null
}

/** Whether requests currently reach the hub. */
export const useIsReachable = (): boolean => outage.use() === null

/** Calls the listener each time the hub responds again. @returns a function that removes it */
export function onReconnect(listener: () => void): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

/** Called for each response of the hub. */
export function reportResponse(): void {
  lastResponseAt = hubNow()
  if (outage.now() === null) return
  clearTimeout(timer)
  outage.set(null)
  for (const listener of listeners) listener()
  // The hub may have been stopped to install another version.
  void checkVersion()
}

const firstDelayMs = 500
const maxDelayMs = 15_000

/** Called when a request got no response. Attempts to reconnect until one succeeds. */
export function reportNoResponse(): void {
  if (outage.now() !== null) return
  outage.set({ since: lastResponseAt, attempts: 0 })
  timer = setTimeout(() => void reconnect(), firstDelayMs)
}

/** Attempts to reconnect now, and schedules the next attempt if that fails. */
export async function reconnect(): Promise<void> {
  clearTimeout(timer)
  const responds = await hubResponds()
  const current = outage.now()
  // Another request may have succeeded or failed meanwhile.
  if (responds) return reportResponse()
  if (current === null) return reportNoResponse()
  const attempts = current.attempts + 1
  outage.set({ ...current, attempts })
  clearTimeout(timer)
  // Random, so that not all tabs send their requests at once when the hub is back.
  const delayMs = Math.min(firstDelayMs * 2 ** attempts, maxDelayMs) * (0.75 + Math.random() / 2)
  timer = setTimeout(() => void reconnect(), delayMs)
}

/** Reacts to changes of the network of this device. Use once per app. */
export function watchNetwork(): void {
  for (const change of ['online', 'offline']) addEventListener(change, () => void reconnect())
}

const timeoutMs = 10_000

async function hubResponds(): Promise<boolean> {
  try {
    const { status } = await fetch('/healthz', { cache: 'no-store', signal: AbortSignal.timeout(timeoutMs) })
    // These come from a proxy. Any other response shows that the hub, or what is in front of it, works.
    return status < 502 || status > 504
  } catch {
    return false
  }
}

/** Checks whether the hub has been updated since this tab was loaded. */
export async function checkVersion(): Promise<void> {
  const own = document.querySelector<HTMLScriptElement>('script[type=module]')
  const page = await fetch('/', { cache: 'no-store' }).then(
    response => response.text(),
    () => '',
  )
  const [, served] = /<script type="module"[^>]* src="([^"]+)"/.exec(page) ?? []
  if (own && served !== undefined && new URL(served, location.href).href !== own.src) isOutdated.set(true)
}
