import type { Figure } from './bench'
import { cpuSecondsOf, residentBytes, startServer } from './child-processes'
import { nameNumber } from './dns-fill'
import { freePort } from './dns-servers'
import { median } from './median'
import { encodeMessage } from '../../dns/message-encode'
import { message } from '../../dns/message'

const starts = 3
// Memory is read when the hub has started everything, and freed what it needed for that.
const restMs = 5000

/**
 * Starts a hub with a filled zone several times. Measures the time from the start of its process until the name server answers for
 * the zone, the CPU time up to then, and the memory of the whole hub afterwards.
 * @param zone name
 */
export async function startFigures(folder: string, zone: string, records: number): Promise<Figure[]> {
  const runs: { seconds: number; cpu: number; bytes: number }[] = []
  for (let n = 0; n < starts; n++) {
    const port = await freePort()
    const startedAt = performance.now()
    const starting = startServer(['serve', '--data', folder, '--listen', '127.0.0.1:0', '--dns-listen', `127.0.0.1:${port}`])
    await untilAnswered(port, `${nameNumber(records - 1)}.${zone}.`)
    const seconds = (performance.now() - startedAt) / 1000
    const hub = await starting
    const cpu = cpuSecondsOf(hub.pid)
    await Bun.sleep(restMs)
    runs.push({ seconds, cpu, bytes: residentBytes(hub.pid) })
    await hub.stop()
  }
  const of = (key: keyof (typeof runs)[number]) => median(runs.map(run => run[key]))
  const label = `${records} records,`
  return [
    { name: `${label} DNS answers after`, value: of('seconds'), unit: 's' },
    { name: `${label} CPU until then`, value: of('cpu'), unit: 's' },
    { name: `${label} memory of the hub`, value: of('bytes') / 1_000_000, unit: 'MB' },
  ]
}

const retryMs = 10
const maxWaitMs = 300_000

/** Queries a name until it is answered. @throws Error if it never is */
async function untilAnswered(port: number, name: string): Promise<void> {
  const query = encodeMessage(message({ id: 1, question: [{ name, type: 'A', class: 1 }] }))
  let isAnswered = false
  for (let waited = 0; !isAnswered; waited += retryMs) {
    if (waited > maxWaitMs) throw new Error(`The name server doesn’t answer for ${name}`)
    // A socket that got an error because the port wasn’t open yet isn’t used again.
    const socket = await Bun.udpSocket({
      connect: { hostname: '127.0.0.1', port },
      socket: {
        data(_, answer) {
          // NOERROR with an answer.
          if ((answer[3]! & 15) === 0 && answer[7]! > 0) isAnswered = true
        },
        error() {},
      },
    })
    try {
      socket.send(query)
    } catch {
      // The port is not open yet.
    }
    await Bun.sleep(retryMs)
    socket.close()
  }
}
