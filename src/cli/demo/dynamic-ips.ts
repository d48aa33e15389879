import type { DynamicIpInput } from '../../features/dynamic-ips/shapes'
import { domain } from './resolver'
import type { Scenario } from './scenario'
import { dayMs, hourMs, minuteMs } from './time-units'

/** Schedules two routers that report their addresses: one whose address changes every few days, and one that has stopped. */
export function scheduleDynamicIps({ simulation, people: { linus }, now, ago, random }: Scenario): void {
  const create = async (input: DynamicIpInput, reports: readonly [at: number, addresses: object][]) => {
    const { id } = await linus.call('POST', '/v1/dynamic-ips', input)
    for (const [at, addresses] of reports)
      simulation.schedule(at, () => linus.call('POST', `/v1/dynamic-ips/${id}/report`, addresses))
  }
  const address = (prefix: string) => `${prefix}.${2 + Math.floor(random() * 250)}`
  simulation.schedule(ago(43), () =>
    create(
      {
        name: 'Office router',
        description: 'FRITZ!Box in the server room.',
        tags: ['office'],
        hosts: [
          { name: `office.${domain}` },
          { name: `printer.office.${domain}`, mode: 'prefix', suffix6: '::10', families: ['ipv6'] },
        ],
        stale_after_seconds: 2 * 86_400,
      },
      Array.from({ length: 9 }, (_, n) => [
        ago(42 - n * 5) + random() * dayMs,
        { ipv4: address('203.0.113'), ipv6: `2001:db8:${40 + n}::1`, prefix6: `2001:db8:${40 + n}::/56` },
      ]),
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
      [
        [ago(16), { ipv4: address('198.51.100') }],
        [now - 3 * hourMs - 20 * minuteMs, { ipv4: address('198.51.100') }],
      ],
    ),
  )
}
