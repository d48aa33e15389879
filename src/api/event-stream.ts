// Limit for data that the client has not read yet. The operating system buffers a few megabytes more.
const maxBufferedBytes = 256 * 1024

/**
 * A response that streams server-sent events until one side ends it (WHATWG HTML, section 9.2). Sending never waits:
 * a client that falls too far behind is disconnected and reconnects with `Last-Event-ID`.
 */
export class EventStream {
  private controller: ReadableStreamDefaultController<Uint8Array> | null = null
  private readonly encoder = new TextEncoder()
  private readonly body: ReadableStream<Uint8Array>

  /** @param ended called once when the stream ends, whichever side ended it */
  constructor(private readonly ended: () => void) {
    this.body = new ReadableStream<Uint8Array>(
      { start: controller => void (this.controller = controller), cancel: () => this.end() },
      new ByteLengthQueuingStrategy({ highWaterMark: maxBufferedBytes }),
    )
  }

  get isOpen(): boolean {
    return this.controller !== null
  }

  /** Sends an event. @param id the client's position in the stream after this event */
  send(event: string, data: unknown, id: string): void {
    this.write(`event: ${event}\nid: ${id}\ndata: ${JSON.stringify(data)}\n\n`)
  }

  /** Tells the client how long to wait before it reconnects, in milliseconds. */
  retryAfter(ms: number): void {
    this.write(`retry: ${ms}\n\n`)
  }

  /** Keeps proxies from closing an idle connection, and moves the client's position to `id`. */
  keepAlive(id: string): void {
    this.write(`:\nid: ${id}\n\n`)
  }

  /** Ends the stream after everything sent so far. */
  close(): void {
    this.controller?.close()
    this.end()
  }

  response(headers: Record<string, string>): Response {
    return new Response(this.body, {
      headers: {
        ...headers,
        'Content-Type': 'text/event-stream',
        // A proxy that compresses or buffers the response would delay events.
        'Cache-Control': `${headers['Cache-Control'] ?? 'no-store'}, no-transform`,
        'X-Accel-Buffering': 'no',
      },
    })
  }

  private write(text: string): void {
    const { controller } = this
    if (!controller) return
    if ((controller.desiredSize ?? 0) > 0) return controller.enqueue(this.encoder.encode(text))
    controller.error(new Error('The client reads too slowly.'))
    this.end()
  }

  private end(): void {
    if (!this.controller) return
    this.controller = null
    this.ended()
  }
}
