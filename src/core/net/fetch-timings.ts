/**
 * Milliseconds from a monotonic clock, each from the start of its phase; null where the phase was not reached or cannot
 * be observed. `connect_ms` runs until the connection could carry the request: TCP, and with https the TLS handshake,
 * which the client reports as one; near zero when a kept connection was used; null for GET and HEAD. `tls_ms` alone is
 * not observable and always null. `first_byte_ms` runs from the start of connecting to the response's headers.
 */
export type FetchTimings = {
  dns_ms: number | null
  connect_ms: number | null
  tls_ms: null
  first_byte_ms: number | null
  total_ms: number
}

/** How far a request had come: no connection known to stand yet, sent and not answered, or headers received. */
export type FetchStage = 'connecting' | 'waiting' | 'reading'

/** Times one request, from its making. Call the three marks in order as the phases are passed. */
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
