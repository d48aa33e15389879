import type { CloudError } from '../../clouds/cloud'
import type { AdapterContext } from '../controller'
import { connectUdp, type UdpSocket } from '../udp'

/** Sends packets to a BMC and waits for their responses, one at a time. */
export class Dialog {
  #socket: UdpSocket | null = null
  #error: CloudError | null = null
  #received: (octets: Uint8Array) => void = () => {}
  #failed: (error: CloudError) => void = () => {}

  private constructor() {}

  /** @throws CloudError */
  static async open(around: AdapterContext, host: string, port: number): Promise<Dialog> {
    const dialog = new Dialog()
    dialog.#socket = await connectUdp(around, host, port, {
      received: octets => dialog.#received(octets),
      failed: error => {
        dialog.#error = error
        dialog.#failed(error)
      },
    })
    return dialog
  }

  /**
   * Sends a packet until a response is accepted.
   * @param packetOf creates the packet of each attempt
   * @param accept called for each packet received; a result other than null ends the wait
   * @param waitsMs how long to wait after each attempt, in milliseconds
   * @returns null without a response
   * @throws CloudError `unreachable`
   */
  async ask<T extends object>(
    packetOf: () => Uint8Array,
    accept: (octets: Uint8Array) => T | null,
    waitsMs: readonly number[],
  ): Promise<T | null> {
    if (this.#error) throw this.#error
    const { promise, resolve, reject } = Promise.withResolvers<T | null>()
    this.#received = octets => {
      const accepted = accept(octets)
      if (accepted !== null) resolve(accepted)
    }
    this.#failed = reject
    let timer: Timer | undefined
    const attempt = (number: number): void => {
      const waitMs = waitsMs[number]
      if (waitMs === undefined) return resolve(null)
      timer = setTimeout(() => attempt(number + 1), waitMs)
      try {
        this.send(packetOf())
      } catch (error) {
        reject(error)
      }
    }
    attempt(0)
    try {
      return await promise
    } finally {
      clearTimeout(timer)
      this.#received = () => {}
      this.#failed = () => {}
    }
  }

  /** @throws CloudError */
  send(octets: Uint8Array): void {
    this.#socket!.send(octets)
  }

  close(): void {
    this.#socket!.close()
  }
}
