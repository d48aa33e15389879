/** An event as received by the client of a stream. */
export interface StreamEvent {
  event: string
  id: string
  data: any
}

/** Parses a text/event-stream response according to WHATWG HTML, section 9.2.6. */
export class EventReader {
  private readonly reader: ReadableStreamDefaultReader<Uint8Array>
  private readonly decoder = new TextDecoder()
  private text = ''
  private lastId = ''
  /** Number of comments read, and the reconnection time. */
  comments = 0
  retry: number | null = null

  constructor(readonly response: Response) {
    if (response.headers.get('content-type') !== 'text/event-stream')
      throw new Error(`Not an event stream: ${response.status} ${response.headers.get('content-type')}`)
    this.reader = response.body!.getReader()
  }

  get lastEventId(): string {
    return this.lastId
  }

  /** Returns the next event, or null if the stream has ended. */
  async next(): Promise<StreamEvent | null> {
    for (;;) {
      const end = this.text.indexOf('\n\n')
      if (end >= 0) {
        const block = this.text.slice(0, end)
        this.text = this.text.slice(end + 2)
        const heard = this.block(block)
        if (heard) return heard
        continue
      }
      const { done, value } = await this.reader.read()
      if (done) return null
      this.text += this.decoder.decode(value, { stream: true })
    }
  }

  async close(): Promise<void> {
    await this.reader.cancel()
  }

  private block(block: string): StreamEvent | null {
    let event = 'message'
    const data: string[] = []
    for (const line of block.split('\n')) {
      if (line.startsWith(':')) this.comments++
      const [, field, value] = /^(\w+): ?(.*)$/.exec(line) ?? []
      if (field === 'event') event = value!
      if (field === 'id') this.lastId = value!
      if (field === 'data') data.push(value!)
      if (field === 'retry') this.retry = Number(value)
    }
    return data.length > 0 ? { event, id: this.lastId, data: JSON.parse(data.join('\n')) } : null
  }
}

/** Returns the text of a response. For a stream, which would not end, returns the first chunk and closes it. */
export async function textOf(response: Response): Promise<string> {
  if (response.headers.get('content-type') !== 'text/event-stream' || response.body === null) return await response.text()
  const reader = response.body.getReader()
  const { value } = await reader.read()
  await reader.cancel()
  return new TextDecoder().decode(value)
}
