/** A response that is sent while it is created, for long content that is not JSON. */
export class StreamedResponse {
  /**
   * @param type media type, one of the route's `streams`
   * @param fileName name for the download; plain ASCII without quotes
   * @param pieces chunks of text; an error aborts the response, so that it cannot be mistaken for complete
   */
  constructor(
    readonly type: string,
    readonly fileName: string,
    private readonly pieces: AsyncIterable<string>,
  ) {}

  /**
   * The HTTP response, with the given headers.
   * @param failed called with the error if the response is aborted
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
