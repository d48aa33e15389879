import { openListener, type DnsListener } from './listener'
import type { FromServer, ToServer } from './messages'
import { ZoneIndex, ZoneSet } from './zone-index'

const countedEachMs = 1000

/** The thread of the name server: takes zones and tells counts by messages, and answers on its ports meanwhile. */
export function runNameServer(): void {
  const thread = globalThis as unknown as {
    postMessage(message: FromServer): void
    onmessage: (event: { data: ToServer }) => void
  }
  const tell = (message: FromServer) => thread.postMessage(message)
  const zones = new ZoneSet()
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
          listener = await openListener(zones, message.wish)
          listener.answerer.complete = complete
          timer = setInterval(tellCounts, countedEachMs)
          tell({ kind: 'listening', host: listener.host, port: listener.port })
        } catch (error) {
          tell({ kind: 'refused', code: (error as NodeJS.ErrnoException).code ?? '', reason: (error as Error).message })
        }
        return
      case 'zone':
        try {
          const zone = arriving.get(message.name) ?? new ZoneIndex(message.name)
          for (const set of message.rrsets) zone.put(set)
          if (!message.last) {
            arriving.set(message.name, zone)
            return
          }
          zones.put(zone)
        } catch (error) {
          tell({ kind: 'unfit', name: message.name, reason: (error as Error).message })
        }
        arriving.delete(message.name)
        changed()
        return
      case 'change': {
        const zone = zones.get(message.name)
        for (const set of message.rrsets) zone?.put(set)
        changed()
        return
      }
      case 'remove':
        zones.remove(message.name)
        changed()
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
