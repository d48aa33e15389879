/** Adds the length prefix that TCP requires (RFC 1035 section 4.2.2). */
export function framed(message: Uint8Array): Uint8Array {
  const frame = new Uint8Array(message.length + 2)
  frame[0] = message.length >> 8
  frame[1] = message.length
  frame.set(message, 2)
  return frame
}

/** Splits TCP data into messages. Buffers at most one incomplete message and the last `push`. */
export class FrameReader {
  #octets: Uint8Array = new Uint8Array()
  #at = 0

  push(octets: Uint8Array): void {
    const rest = this.#octets.subarray(this.#at)
    this.#octets = Buffer.concat([rest, octets])
    this.#at = 0
  }

  /** Next complete message, as a view of the pushed data; null if there is none yet. */
  next(): Uint8Array | null {
    const start = this.#at + 2
    if (start > this.#octets.length) return null
    const end = start + ((this.#octets[this.#at]! << 8) | this.#octets[this.#at + 1]!)
    if (end > this.#octets.length) return null
    this.#at = end
    return this.#octets.subarray(start, end)
  }
}
