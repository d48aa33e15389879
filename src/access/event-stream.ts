// Of what a reader has not taken; beyond it the system keeps some megabytes more.
const mostWaitingBytes = 256 * 1024

/**
 * An answer that goes on until one side ends it, and tells what happens (WHATWG HTML, section 9.2, Server-sent events). What is sent
 * is never waited for: a reader who falls too far behind is cut off, and comes back with `Last-Event-ID`.
 */
export class EventStream {
  private controller: ReadableStreamDefaultController<Uint8Array> | null = null
  private readonly encoder = new TextEncoder()
  private readonly body: ReadableStream<Uint8Array>

  /** @param ended called once, whoever ends it */
  constructor(private readonly ended: () => void) {
    this.body = new ReadableStream<Uint8Array>(
      { start: controller => void (this.controller = controller), cancel: () => this.over() },
      new ByteLengthQueuingStrategy({ highWaterMark: mostWaitingBytes }),
    )
  }

  get isOpen(): boolean {
    return this.controller !== null
  }

  /** Sends an event. @param id the place in the stream that the client has come to with it */
  send(event: string, data: unknown, id: string): void {
    this.write(`event: ${event}\nid: ${id}\ndata: ${JSON.stringify(data)}\n\n`)
  }

  /** How long a client should wait before it comes back after its connection broke, in milliseconds. */
  retryAfter(ms: number): void {
    this.write(`retry: ${ms}\n\n`)
  }

  /** Keeps what lies between from taking the connection for dead. The client has come to the place `id`, and is told of nothing. */
  keepAlive(id: string): void {
    this.write(`:\nid: ${id}\n\n`)
  }

  /** Ends it, after what was sent before. */
  close(): void {
    this.controller?.close()
    this.over()
  }

  response(headers: Record<string, string>): Response {
    return new Response(this.body, {
      headers: {
        ...headers,
        'Content-Type': 'text/event-stream',
        // A proxy that packs or gathers the answer would hold it back.
        'Cache-Control': `${headers['Cache-Control'] ?? 'no-store'}, no-transform`,
        'X-Accel-Buffering': 'no',
      },
    })
  }

  private write(text: string): void {
    const { controller } = this
    if (!controller) return
    if ((controller.desiredSize ?? 0) > 0) return controller.enqueue(this.encoder.encode(text))
    controller.error(new Error('The reader is too slow.'))
    this.over()
  }

  private over(): void {
    if (!this.controller) return
    this.controller = null
    this.ended()
  }
}
