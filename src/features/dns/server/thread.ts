import { HubRequests } from './hub-requests'
import { openListener, type DnsListener } from './listener'
import type { FromServer, ToServer, Transferred } from './messages'
import { TransferKeys } from './transfer-keys'
import { ZoneIndex, ZoneSet } from './zone-index'

const countsIntervalMs = 1000

/**
 * Entry point of the name server thread: receives zones by messages, sends counts, and answers queries. Records that only the
 * server adds, such as DNSSEC signatures, would be added where `zone` and `change` are handled, so that answers, transfers and the
 * serial include them.
 */
export function runNameServer(): void {
  const thread = globalThis as unknown as {
    postMessage(message: FromServer): void
    onmessage: (event: { data: ToServer }) => void
  }
  const send = (message: FromServer) => thread.postMessage(message)
  const zones = new ZoneSet()
  const hidden = new ZoneSet()
  const keys = new TransferKeys()
  const hub = new HubRequests(send)
  let complete = false
  let listener: DnsListener | null = null
  let timer: ReturnType<typeof setInterval> | undefined
  const sendCounts = () => {
    const counts = listener?.counters.flush()
    if (counts) send({ kind: 'counts', counts })
  }
  const clearCache = () => listener?.answerer.forget()

  const handle = async (message: ToServer): Promise<void> => {
    switch (message.kind) {
      case 'listen':
        try {
          const transferred = (transfer: Transferred) => send({ kind: 'transferred', transfer })
          listener = await openListener({ zones, hidden, keys, hub, transferred }, message.options)
          listener.answerer.complete = complete
          timer = setInterval(sendCounts, countsIntervalMs)
          send({ kind: 'listening', host: listener.host, port: listener.port })
        } catch (error) {
          send({ kind: 'refused', code: (error as NodeJS.ErrnoException).code ?? '', reason: (error as Error).message })
        }
        return
      case 'zone': {
        const { zone } = message
        try {
          const index = new ZoneIndex(zone.name, zone.owner, zone.packed)
          for (const set of zone.changes) index.put(set)
          const set = zone.hidden ? hidden : zones
          set.put(index)
        } catch (error) {
          send({ kind: 'invalid_zone', name: zone.name, reason: (error as Error).message })
        }
        clearCache()
        return
      }
      case 'change': {
        const zone = zones.get(message.name)
        for (const set of message.rrsets) zone?.put(set)
        clearCache()
        return
      }
      case 'remove': {
        const set = message.hidden ? hidden : zones
        set.remove(message.name)
        clearCache()
        return
      }
      case 'rights':
        keys.replace(message.rights)
        return
      case 'echo':
        send(message)
        return
      case 'answer':
        hub.resolve(message.id, message.answer)
        return
      case 'complete':
        complete = true
        if (listener) listener.answerer.complete = true
        return
      case 'stop':
        clearInterval(timer)
        sendCounts()
        listener?.close()
        send({ kind: 'stopped' })
    }
  }
  thread.onmessage = ({ data }) => void handle(data)
}
