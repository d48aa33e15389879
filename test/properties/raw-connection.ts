import { connect } from 'node:net'

/** What was received on a connection until it was closed or silent. */
export interface Received {
  text: string
  closed: boolean
  /** Status codes of the responses, in order. */
  statuses: number[]
}

/**
 * Sends pieces on a new connection with pauses between them, and reads until the hub closes it or is silent for `silentMs` after the
 * last piece. The default is for connections that the hub closes, so that a busy machine fails no test.
 */
export function sendRaw(port: number, pieces: (string | Uint8Array)[], pauseMs = 0, silentMs = 20_000): Promise<Received> {
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
