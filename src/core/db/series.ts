/**
 * One result of a check, as it is kept: octets count here, 10,000 monitors make 28.8 million of them a day.
 * Monitor and location are the numbers of their rows. Milliseconds UTC for times, milliseconds for spans.
 */
export interface Beat {
  monitor: number
  location: number
  at: number
  status: 'up' | 'degraded' | 'down'
  ms: number | null
  code: number | null
  /** Index into the texts that `errorText` gives. */
  error: number | null
  dns: number | null
  connect: number | null
  tls: number | null
  firstByte: number | null
}
