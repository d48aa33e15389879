import { connect } from 'node:net'

/** What came back over a connection until it was closed, or nothing more came. */
export interface Heard {
  text: string
  closed: boolean
  /** Statuses of the answers, in order. */
  statuses: number[]
}

/**
 * Sends pieces over a connection of its own, with a pause between them, and listens until the hub closes it or is silent for
 * `silentMs` after the last piece.
 */
export function overTheWire(port: number, pieces: (string | Uint8Array)[], pauseMs = 0, silentMs = 300): Promise<Heard> {
  return new Promise(resolve => {
    let text = ''
    let closed = false
    let silence: ReturnType<typeof setTimeout> | undefined
    const socket = connect({ host: '127.0.0.1', port, noDelay: true })
    const end = () => {
      clearTimeout(silence)
      socket.destroy()
      resolve({ text, closed, statuses: [...text.matchAll(/HTTP\/1\.1 (\d{3}) /g)].map(one => Number(one[1])) })
    }
    const wait = () => {
      clearTimeout(silence)
      silence = setTimeout(end, silentMs)
    }
    socket.on('data', chunk => {
      text += chunk.toString('latin1')
      wait()
    })
    socket.on('close', () => {
      closed = true
      end()
    })
    socket.on('error', () => {
      closed = true
    })
    socket.on('connect', async () => {
      for (const piece of pieces) {
        if (closed) return
        socket.write(piece)
        if (pauseMs > 0) await Bun.sleep(pauseMs)
      }
      wait()
    })
  })
}
