import type { Socket } from 'bun'

/** Results of a load run. Latencies are in milliseconds, from the last byte sent to the last byte received. */
export interface LoadResult {
  responses: number
  failures: number
  seconds: number
  perSecond: number
  p50: number
  p99: number
  bytes: number
}

interface Wire {
  buffered: Buffer
  sentAt: number
}

/**
 * Keeps HTTP/1.1 connections busy for some seconds, with one request in flight on each. Uses raw sockets, because client and
 * server share the machine.
 * @param options `requests`: ends earlier, after this many requests
 * @param request returns the bytes of the next request
 */
export async function load(
  target: { port: number },
  options: { connections: number; seconds: number; requests?: number },
  request: () => Uint8Array,
): Promise<LoadResult> {
  const latencies: number[] = []
  let failures = 0
  let bytes = 0
  let open = 0
  let isOver = false
  let sent = 0
  const done = Promise.withResolvers<void>()
  const send = (socket: Socket<Wire>) => {
    if (isOver || sent === options.requests) {
      socket.end()
      return
    }
    sent++
    socket.data.sentAt = performance.now()
    socket.write(request())
  }
  const startedAt = performance.now()
  await Promise.all(
    Array.from({ length: options.connections }, () =>
      Bun.connect<Wire>({
        hostname: '127.0.0.1',
        port: target.port,
        data: { buffered: Buffer.alloc(0), sentAt: 0 },
        socket: {
          open(socket) {
            open++
            send(socket)
          },
          data(socket, chunk) {
            const wire = socket.data
            wire.buffered = wire.buffered.length === 0 ? chunk : Buffer.concat([wire.buffered, chunk])
            const length = responseLength(wire.buffered)
            if (length === null || wire.buffered.length < length) return
            latencies.push(performance.now() - wire.sentAt)
            bytes += length
            // "HTTP/1.1 2…"
            if (wire.buffered[9] !== 0x32) failures++
            wire.buffered = Buffer.alloc(0)
            send(socket)
          },
          close() {
            if (--open === 0) done.resolve()
          },
          error(socket) {
            socket.terminate()
          },
        },
      }),
    ),
  )
  await Promise.race([done.promise, Bun.sleep(options.seconds * 1000)])
  isOver = true
  const seconds = (performance.now() - startedAt) / 1000
  await Promise.race([done.promise, Bun.sleep(5000)])
  return resultOf(latencies, { failures, seconds, bytes })
}

/** A request of {@link pacedLoad}. */
interface PacedRequest {
  bytes: Uint8Array
  /** Receives the body of a successful response. */
  done(body: string): void
}

interface PacedWire {
  buffered: Buffer
  current: { dueAt: number; done(body: string): void } | null
}

const maxPacedConnections = 256
const paceMs = 5

/**
 * Sends HTTP/1.1 requests at a fixed rate, whether or not earlier ones have a response. Latencies are in milliseconds, from the time
 * when a request was due to the last byte of its response.
 */
export async function pacedLoad(
  target: { port: number },
  { rate, seconds }: { rate: number; seconds: number },
  request: () => PacedRequest,
): Promise<LoadResult> {
  const latencies: number[] = []
  let failures = 0
  let bytes = 0
  const idle: Socket<PacedWire>[] = []
  const all: Socket<PacedWire>[] = []
  const waiting: number[] = []
  const send = (socket: Socket<PacedWire>, dueAt: number) => {
    const { bytes: sent, done } = request()
    socket.data.current = { dueAt, done }
    socket.write(sent)
  }
  const connect = () =>
    Bun.connect<PacedWire>({
      hostname: '127.0.0.1',
      port: target.port,
      data: { buffered: Buffer.alloc(0), current: null },
      socket: {
        data(socket, chunk) {
          const wire = socket.data
          wire.buffered = wire.buffered.length === 0 ? chunk : Buffer.concat([wire.buffered, chunk])
          const length = responseLength(wire.buffered)
          if (length === null || wire.buffered.length < length || !wire.current) return
          latencies.push(performance.now() - wire.current.dueAt)
          bytes += length
          // "HTTP/1.1 2…"
          if (wire.buffered[9] === 0x32)
            wire.current.done(wire.buffered.toString('latin1', wire.buffered.indexOf('\r\n\r\n') + 4, length))
          else failures++
          wire.buffered = Buffer.alloc(0)
          wire.current = null
          const next = waiting.shift()
          if (next === undefined) idle.push(socket)
          else send(socket, next)
        },
        error(socket) {
          socket.terminate()
        },
      },
    })
  const startedAt = performance.now()
  let due = 0
  const total = rate * seconds
  while (due < total) {
    const now = performance.now()
    for (; due < total && startedAt + (due * 1000) / rate <= now; due++) {
      const dueAt = startedAt + (due * 1000) / rate
      const socket = idle.pop()
      if (socket) send(socket, dueAt)
      else if (all.length < maxPacedConnections) {
        const opened = await connect()
        all.push(opened)
        send(opened, dueAt)
      } else waiting.push(dueAt)
    }
    await Bun.sleep(paceMs)
  }
  for (let waited = 0; idle.length < all.length && waited < 5000; waited += paceMs) await Bun.sleep(paceMs)
  const elapsed = (performance.now() - startedAt) / 1000
  for (const socket of all) socket.end()
  return resultOf(latencies, { failures, seconds: elapsed, bytes })
}

/** @param latencies in any order, in milliseconds */
function resultOf(latencies: number[], of: Pick<LoadResult, 'failures' | 'seconds' | 'bytes'>): LoadResult {
  latencies.sort((a, b) => a - b)
  const at = (share: number) => latencies[Math.min(latencies.length - 1, Math.floor(latencies.length * share))] ?? Number.NaN
  const responses = latencies.length
  return { ...of, responses, perSecond: responses / of.seconds, p50: at(0.5), p99: at(0.99) }
}

/** Length of the response at the start of `buffer`, or null until its headers are complete. */
export function responseLength(buffer: Buffer): number | null {
  const end = buffer.indexOf('\r\n\r\n')
  if (end < 0) return null
  const length = /\r\ncontent-length: *(\d+)/i.exec(buffer.toString('latin1', 0, end))
  return end + 4 + Number(length?.[1] ?? 0)
}

/** The bytes of a request with an optional body. */
export function requestBytes(
  method: string,
  path: string,
  headers: Record<string, string> = {},
  body: string | Uint8Array = '',
): Uint8Array {
  const lines = Object.entries({
    Host: 'localhost',
    ...(body.length > 0 && { 'Content-Length': String(Buffer.byteLength(body)) }),
    ...headers,
  }).map(([name, value]) => `${name}: ${value}\r\n`)
  return Buffer.concat([Buffer.from(`${method} ${path} HTTP/1.1\r\n${lines.join('')}\r\n`), Buffer.from(body)])
}
