/**
 * Durations in milliseconds from a monotonic clock; null if a phase was not reached or can't be measured. `connect_ms` includes TCP
 * and, with https, the TLS handshake, because the client reports them together. It is near zero if a connection was reused, and null
 * for GET and HEAD. `tls_ms` can't be measured and is always null. `first_byte_ms` is from the start of connecting to the response
 * headers.
 */
export type FetchTimings = {
  dns_ms: number | null
  connect_ms: number | null
  tls_ms: null
  first_byte_ms: number | null
  total_ms: number
}

/** Stage of a request: not known to be connected, sent without a response, or headers received. */
export type FetchStage = 'connecting' | 'waiting' | 'reading'

/** Measures a request from now on. Call the three marks in order when the phases end. */
export function stopwatch() {
  const start = performance.now()
  let resolvedAt: number | null = null
  let connectedAt: number | null = null
  let answeredAt: number | null = null
  const since = (from: number | null, to: number | null) => (from === null || to === null ? null : to - from)
  return {
    resolved: () => (resolvedAt = performance.now()),
    connected: () => (connectedAt ??= performance.now()),
    answered: () => (answeredAt = performance.now()),
    stage: (): FetchStage => (answeredAt !== null ? 'reading' : connectedAt !== null ? 'waiting' : 'connecting'),
    timings: (): FetchTimings => ({
      dns_ms: since(start, resolvedAt),
      connect_ms: since(resolvedAt, connectedAt),
      tls_ms: null,
      first_byte_ms: since(resolvedAt, answeredAt),
      total_ms: performance.now() - start,
    }),
  }
}
