/** An event as a client of a stream sees it. */
export interface Heard {
  event: string
  id: string
  data: any
}

/** Reads an answer of the type text/event-stream as WHATWG HTML, section 9.2.6, says. */
export class EventReader {
  private readonly reader: ReadableStreamDefaultReader<Uint8Array>
  private readonly decoder = new TextDecoder()
  private text = ''
  private lastId = ''
  /** How many comments were read, and the time to wait before coming back. */
  comments = 0
  retry: number | null = null

  constructor(readonly answer: Response) {
    if (answer.headers.get('content-type') !== 'text/event-stream')
      throw new Error(`This is no stream: ${answer.status} ${answer.headers.get('content-type')}`)
    this.reader = answer.body!.getReader()
  }

  get lastEventId(): string {
    return this.lastId
  }

  /** The next event; null when the stream has ended. */
  async next(): Promise<Heard | null> {
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

  private block(block: string): Heard | null {
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

/** The text of an answer: of a stream what comes first, and then it is closed, since it would not end. */
export async function textOf(answer: Response): Promise<string> {
  if (answer.headers.get('content-type') !== 'text/event-stream' || answer.body === null) return await answer.text()
  const reader = answer.body.getReader()
  const { value } = await reader.read()
  await reader.cancel()
  return new TextDecoder().decode(value)
}
