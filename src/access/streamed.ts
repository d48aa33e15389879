/** An answer that is not JSON and too long to be held: it is sent as it is made. */
export class Streamed {
  /**
   * @param type media type, one of the route's `streams`
   * @param fileName what a browser saves it as; plain ASCII without quotes
   * @param pieces text, piece by piece; an error cuts the answer off, so that it cannot be taken for whole
   */
  constructor(
    readonly type: string,
    readonly fileName: string,
    private readonly pieces: AsyncIterable<string>,
  ) {}

  /**
   * The answer, with the headers that all have.
   * @param failed told of an error that cut it off
   */
  response(headers: Record<string, string>, failed: (error: unknown) => void): Response {
    const pieces = this.pieces[Symbol.asyncIterator]()
    const encoder = new TextEncoder()
    const body = new ReadableStream<Uint8Array>({
      async pull(controller) {
        try {
          const next = await pieces.next()
          if (next.done) controller.close()
          else controller.enqueue(encoder.encode(next.value))
        } catch (error) {
          failed(error)
          controller.error(error)
        }
      },
      async cancel() {
        await pieces.return?.()
      },
    })
    return new Response(body, {
      headers: { ...headers, 'Content-Type': this.type, 'Content-Disposition': `attachment; filename="${this.fileName}"` },
    })
  }
}
