import { watchSources } from '../../features/dynamic-ips/watch'
import type { DynamicIpInput } from '../../features/dynamic-ips/shapes'
import { domain } from './resolver'
import type { Scenario } from './scenario'
import { dayMs, hourMs, minuteMs } from './time-units'

/** A report of a client: when (ms UTC), and its parameters. */
type Report = readonly [at: number, parameters: string]

/** Schedules two routers that report their addresses: one whose address changes every few days, and one that has stopped. */
export function scheduleDynamicIps({ simulation, people: { linus }, now, ago, random }: Scenario): void {
  const create = async (input: DynamicIpInput, userAgent: string, reports: readonly Report[]) => {
    const { secret } = await linus.call('POST', '/v1/dynamic-ips', input)
    const headers = { 'user-agent': userAgent, authorization: `Basic ${btoa(`any:${secret}`)}` }
    for (const [at, parameters] of reports)
      simulation.schedule(at, () => simulation.call('GET', `/nic/update?${parameters}`, { headers }))
  }
  const last = () => 2 + Math.floor(random() * 250)

  simulation.schedule(ago(43), () =>
    create(
      {
        name: 'Office router',
        description: 'In the server room on the first floor.',
        tags: ['office'],
        hosts: [
          { name: `office.${domain}` },
          { name: `printer.office.${domain}`, mode: 'prefix', suffix6: '::10', families: ['ipv6'] },
        ],
        stale_after_seconds: 3 * 86_400,
      },
      'Fritz!Box DDNS/1.0.1',
      Array.from({ length: 9 }, (_, n): Report => {
        const prefix = `2001:db8:4${n}00:`
        const addresses = `myip=203.0.113.${last()}&myipv6=${prefix}:1&ip6lanprefix=${prefix}:/56`
        return [ago(42 - n * 5) + random() * dayMs, `hostname=office.${domain}&${addresses}`]
      }),
    ),
  )
  simulation.schedule(ago(17), () =>
    create(
      {
        name: 'Warehouse router',
        tags: ['warehouse'],
        families: ['ipv4'],
        hosts: [{ name: `vpn.warehouse.${domain}` }],
        stale_after_seconds: 3600,
      },
      'ddclient/3.10.0',
      [ago(16), ago(9), now - 3.3 * hourMs].map((at): Report => [at, `myip=198.51.100.${last()}`]),
    ),
  )
  // The simulation runs no scheduled tasks.
  simulation.schedule(now - 2.3 * hourMs + minuteMs, () => watchSources(simulation.hub))
}
