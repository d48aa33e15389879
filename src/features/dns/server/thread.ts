import { HubLine } from './hub-line'
import { openListener, type DnsListener } from './listener'
import type { FromServer, ToServer, Transferred } from './messages'
import { TransferKeys } from './transfer-keys'
import { ZoneIndex, ZoneSet } from './zone-index'

const countedEachMs = 1000

/**
 * The thread of the name server: takes zones and tells counts by messages, and answers on its ports meanwhile. What it is given is
 * what it serves: records that only the server adds, as signing a zone would, belong between the two, where `zone` and `change` are
 * taken below, so that answers, transfers and the serial all have them.
 */
export function runNameServer(): void {
  const thread = globalThis as unknown as {
    postMessage(message: FromServer): void
    onmessage: (event: { data: ToServer }) => void
  }
  const tell = (message: FromServer) => thread.postMessage(message)
  const zones = new ZoneSet()
  const hidden = new ZoneSet()
  const keys = new TransferKeys()
  const hub = new HubLine(tell)
  const arriving = new Map<string, ZoneIndex>()
  let complete = false
  let listener: DnsListener | null = null
  let timer: ReturnType<typeof setInterval> | undefined
  const tellCounts = () => {
    const counts = listener?.counted.taken()
    if (counts) tell({ kind: 'counted', counts })
  }
  const changed = () => listener?.answerer.forget()

  const take = async (message: ToServer): Promise<void> => {
    switch (message.kind) {
      case 'listen':
        try {
          const transferred = (transfer: Transferred) => tell({ kind: 'transferred', transfer })
          listener = await openListener({ zones, hidden, keys, hub, transferred }, message.wish)
          listener.answerer.complete = complete
          timer = setInterval(tellCounts, countedEachMs)
          tell({ kind: 'listening', host: listener.host, port: listener.port })
        } catch (error) {
          tell({ kind: 'refused', code: (error as NodeJS.ErrnoException).code ?? '', reason: (error as Error).message })
        }
        return
      case 'zone': {
        const place = `${message.hidden} ${message.name}`
        try {
          const zone = arriving.get(place) ?? new ZoneIndex(message.name, message.owner)
          for (const set of message.rrsets) zone.put(set)
          if (!message.last) {
            arriving.set(place, zone)
            return
          }
          const set = message.hidden ? hidden : zones
          set.put(zone)
        } catch (error) {
          tell({ kind: 'unfit', name: message.name, reason: (error as Error).message })
        }
        arriving.delete(place)
        changed()
        return
      }
      case 'change': {
        const zone = zones.get(message.name)
        for (const set of message.rrsets) zone?.put(set)
        changed()
        return
      }
      case 'remove': {
        const set = message.hidden ? hidden : zones
        set.remove(message.name)
        changed()
        return
      }
      case 'rights':
        keys.take(message.rights)
        return
      case 'echo':
        tell(message)
        return
      case 'answer':
        hub.take(message.id, message.answer)
        return
      case 'complete':
        complete = true
        if (listener) listener.answerer.complete = true
        return
      case 'stop':
        clearInterval(timer)
        tellCounts()
        listener?.close()
        tell({ kind: 'stopped' })
    }
  }
  thread.onmessage = ({ data }) => void take(data)
}
